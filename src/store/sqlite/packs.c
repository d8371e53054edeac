#include "store/sqlite/packs.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"

enum {
    WRITE_BYTES = 1 << 20,
    PENDING_MAX = INT32_MAX,
    WASTE_SHARE = 2,
    RUN_BYTES = 1 << 20,     /* read at once */
    RUN_GAP_BYTES = 8 << 10, /* between two that are */
};

struct packs {
    struct packs_options options;
    char *dir;
    pthread_mutex_t lock; /* guards the array, and who reads what */
    struct pack **all;    /* by number */
    size_t count;

    struct pack *current; /* what is added goes here; NULL: into a new one */
    uint64_t last;        /* the highest number that was ever given */
    uint64_t settled;     /* number of the last pack that a committed transaction knows */
    uint64_t settled_end; /* and where it ended */
    struct buf pending;   /* put and not yet written: the end of the current pack */
    bool written;         /* the current pack is to be synced */
    bool made;            /* the folder is to be synced */
    enum status status;   /* of what was put since the last transaction */
    struct err err;
};

/* ---- the array ---- */

/* The first whose number is not below. */
static size_t place_of(const struct packs *packs, uint64_t number) {
    size_t low = 0, high = packs->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (packs->all[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct pack *find(const struct packs *packs, uint64_t number) {
    size_t at = place_of(packs, number);
    return at < packs->count && packs->all[at]->number == number ? packs->all[at] : NULL;
}

static void add(struct packs *packs, struct pack *pack) {
    pthread_mutex_lock(&packs->lock);
    packs->all = memory_grow(packs->all, (packs->count + 1) * sizeof(struct pack *));
    packs->all[packs->count++] = pack;
    pthread_mutex_unlock(&packs->lock);
}

/* Freed at once, or by its last reader. */
static void leave(struct packs *packs, size_t at) {
    pthread_mutex_lock(&packs->lock);
    struct pack *pack = packs->all[at];
    memmove(packs->all + at, packs->all + at + 1, (packs->count - at - 1) * sizeof(struct pack *));
    packs->count--;
    pack->removed = true;
    bool idle = pack->readers == 0;
    pthread_mutex_unlock(&packs->lock);
    if (idle)
        pack_free(pack);
}

/* ---- opening ---- */

/* What is dead may have lost its file before its row. */
static void add_gone(struct packs *packs, uint64_t number) {
    struct pack *pack = memory_new(sizeof *pack);
    *pack =
        (struct pack){.disk = packs->options.disk, .number = number, .gone = true, .unsaved = true};
    add(packs, pack);
}

static enum status load_one(struct packs *packs, sqlite3_stmt *stmt, struct err *err) {
    struct pack *pack = NULL;
    struct err trouble;
    uint64_t number = (uint64_t)sqlite3_column_int64(stmt, 0);
    uint64_t live = (uint64_t)sqlite3_column_int64(stmt, 2);
    enum status status = pack_open(packs->options.disk, packs->dir, number, false, &pack, &trouble);
    packs->last = number;
    if (status == STATUS_OK) {
        pack->end = (uint64_t)sqlite3_column_int64(stmt, 1);
        pack->live = live;
        pack->unsaved = live == 0;
        add(packs, pack);
    } else if (live == 0) {
        add_gone(packs, number);
    } else if (packs->options.report) {
        buf_printf(packs->options.report, "%s\n", trouble.text);
    } else {
        return err_set(err, STATUS_CORRUPT, "%s", trouble.text);
    }
    return STATUS_OK;
}

static enum status load(struct packs *packs, struct database *database, struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(database, SQL_PACKS);
    while (database_next(database, stmt, &status, err)) {
        status = load_one(packs, stmt, err);
        if (status != STATUS_OK) {
            sqlite3_reset(stmt);
            return status;
        }
    }
    return status;
}

/* Packs behind the last that the SQLite file knows are of a fold that was not committed. But where
 * it knows none at all it may be new, in the place of one that was lost: then they are left alone.
 */
struct sweep {
    struct packs *packs;
    uint64_t known;
};

static void remove_if_unknown(void *arg, const char *name) {
    struct sweep *sweep = arg;
    struct packs *packs = sweep->packs;
    uint64_t number;
    struct err err;
    if (!pack_number(name, &number) || number <= sweep->known)
        return;
    if (sweep->known == 0 && number > packs->last)
        packs->last = number;
    if (sweep->known != 0 &&
        pack_remove_file(packs->options.disk, packs->dir, number, &err) != STATUS_OK)
        log_warn("%s", err.text);
}

static void settle_end(struct packs *packs) {
    if (packs->current) {
        packs->settled = packs->current->number;
        packs->settled_end = packs->current->end;
    }
}

enum status packs_open(const struct packs_options *options, struct database *database,
                       struct packs **out, struct err *err) {
    struct packs *packs = memory_new(sizeof *packs);
    packs->options = *options;
    if (packs->options.pack_bytes == 0)
        packs->options.pack_bytes = PACKS_BYTES;
    packs->dir = bytes_dup(bytes_of(options->dir));
    pthread_mutex_init(&packs->lock, NULL);
    buf_init_heap(&packs->pending, PENDING_MAX);
    enum status status = load(packs, database, err);
    if (status != STATUS_OK) {
        packs_free(packs);
        return status;
    }
    struct pack *highest = packs->count > 0 ? packs->all[packs->count - 1] : NULL;
    if (highest && highest->number == packs->last && !highest->gone)
        packs->current = highest;
    packs->settled = packs->last;
    settle_end(packs);
    struct disk *disk = options->disk;
    struct sweep sweep = {packs, packs->last};
    if (!options->report)
        (void)disk->vtable->list(disk, packs->dir, remove_if_unknown, &sweep);
    *out = packs;
    return STATUS_OK;
}

void packs_free(struct packs *packs) {
    if (!packs)
        return;
    for (size_t i = 0; i < packs->count; i++)
        pack_free(packs->all[i]);
    free(packs->all);
    buf_free(&packs->pending);
    pthread_mutex_destroy(&packs->lock);
    free(packs->dir);
    free(packs);
}

/* ---- putting ---- */

static enum status io_trouble(const struct packs *packs, int error, const char *doing,
                              struct err *err) {
    return err_set(err, error == ENOSPC ? STATUS_FULL : STATUS_IO, "%s a pack in %s: %s", doing,
                   packs->dir, strerror(error));
}

static enum status write_pending(struct packs *packs, struct err *err) {
    if (packs->pending.len == 0)
        return STATUS_OK;
    struct disk *disk = packs->options.disk;
    int error =
        disk->vtable->write(disk, packs->current->file, packs->current->end - packs->pending.len,
                            packs->pending.ptr, packs->pending.len);
    packs->written = true;
    buf_clear(&packs->pending);
    return error ? io_trouble(packs, error, "writing", err) : STATUS_OK;
}

static void pad(struct packs *packs, uint64_t bytes) {
    char *zeroes = buf_room(&packs->pending, bytes);
    if (zeroes)
        memset(zeroes, 0, bytes);
    packs->current->end += bytes;
}

static uint64_t left_in_block(const struct packs *packs) {
    return (PACK_BLOCK - packs->current->end % PACK_BLOCK) % PACK_BLOCK;
}

/* What the transaction put into the current pack is on disk afterwards. */
static enum status finish_pack(struct packs *packs, struct err *err) {
    if (!packs->current)
        return STATUS_OK;
    pad(packs, left_in_block(packs));
    enum status status = write_pending(packs, err);
    if (status != STATUS_OK || !packs->written)
        return status;
    struct disk *disk = packs->options.disk;
    int error = disk->vtable->sync(disk, packs->current->file);
    packs->written = false;
    return error ? io_trouble(packs, error, "syncing", err) : STATUS_OK;
}

static enum status next_pack(struct packs *packs, struct err *err) {
    enum status status = finish_pack(packs, err);
    struct pack *pack = NULL;
    if (status == STATUS_OK)
        status = pack_open(packs->options.disk, packs->dir, ++packs->last, true, &pack, err);
    if (status == STATUS_OK) {
        add(packs, pack);
        packs->current = pack;
        packs->made = packs->written = true;
    }
    return status;
}

/* Makes room for the next record. */
static enum status prepare(struct packs *packs, struct err *err) {
    enum status status = STATUS_OK;
    if (!packs->current || packs->current->end >= packs->options.pack_bytes)
        status = next_pack(packs, err);
    else if (packs->pending.len >= WRITE_BYTES)
        status = write_pending(packs, err);
    if (status == STATUS_OK && left_in_block(packs) < PACK_HEAD_BYTES)
        pad(packs, left_in_block(packs));
    return status;
}

struct pack_place packs_put(struct packs *packs, uint64_t seq, enum pack_part part,
                            struct bytes bytes) {
    if (packs->status == STATUS_OK)
        packs->status = prepare(packs, &packs->err);
    if (packs->status != STATUS_OK)
        return (struct pack_place){0};
    struct pack *pack = packs->current;
    struct pack_place place = {pack_at(pack->number, pack->end), bytes.len};
    pack_put_record(&packs->pending, place.at, seq, part, bytes);
    pack->end += pack_record_size(bytes.len);
    pack->added += (int64_t)pack_record_size(bytes.len);
    pack->unsaved = true;
    return place;
}

void packs_drop(struct packs *packs, struct pack_place place) {
    struct pack *pack = place.at ? find(packs, pack_number_of(place.at)) : NULL;
    if (!pack)
        return;
    pack->added -= (int64_t)pack_record_size(place.len);
    pack->unsaved = true;
}

/* ---- the transaction's end ---- */

static bool is_dead(const struct packs *packs, const struct pack *pack) {
    return pack != packs->current && (int64_t)pack->live + pack->added <= 0;
}

/* A dead one's row stays until its file is removed. */
static enum status save(const struct pack *pack, struct database *database, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, pack->gone ? SQL_PACK_DELETE : SQL_PACK_SET);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)pack->number);
    if (!pack->gone) {
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)pack->end);
        sqlite3_bind_int64(stmt, 3, (sqlite3_int64)pack->live + pack->added);
    }
    return database_step(database, stmt, err);
}

static enum status sync_names(struct packs *packs, struct err *err) {
    if (!packs->made)
        return STATUS_OK;
    struct disk *disk = packs->options.disk;
    int error = disk->vtable->sync_dir(disk, packs->dir);
    packs->made = error != 0;
    return error ? io_trouble(packs, error, "naming", err) : STATUS_OK;
}

enum status packs_flush(struct packs *packs, struct database *database, struct err *err) {
    if (packs->status == STATUS_OK)
        packs->status = finish_pack(packs, &packs->err);
    if (packs->status == STATUS_OK)
        packs->status = sync_names(packs, &packs->err);
    if (packs->status == STATUS_OK && packs->pending.overflow)
        packs->status = err_set(&packs->err, STATUS_TOO_LARGE, "a record is too large for a pack");
    if (packs->status != STATUS_OK && err)
        *err = packs->err;
    enum status status = packs->status;
    for (size_t i = 0; status == STATUS_OK && i < packs->count; i++) {
        if (packs->all[i]->unsaved)
            status = save(packs->all[i], database, err);
    }
    return status;
}

static void bury(struct packs *packs, struct pack *pack) {
    struct err err;
    if (pack_remove_file(packs->options.disk, packs->dir, pack->number, &err) != STATUS_OK)
        log_warn("%s", err.text);
    pthread_mutex_lock(&packs->lock);
    pack->gone = pack->unsaved = true;
    pthread_mutex_unlock(&packs->lock);
}

static void keep(struct packs *packs) {
    for (size_t i = packs->count; i-- > 0;) {
        struct pack *pack = packs->all[i];
        bool saved = pack->unsaved, dead = saved && is_dead(packs, pack);
        pack->live = (uint64_t)((int64_t)pack->live + pack->added);
        pack->added = 0;
        pack->unsaved = false;
        if (saved && pack->gone)
            leave(packs, i);
        else if (dead)
            bury(packs, pack);
    }
    settle_end(packs);
}

/* A transaction that failed may still be found in the SQLite file after a crash, so what it put is
 * not written over: the next one puts into a new pack. */
static void undo(struct packs *packs) {
    for (size_t i = packs->count; i-- > 0;) {
        struct pack *pack = packs->all[i];
        pack->added = 0;
        pack->unsaved = pack->gone;
        if (pack->number > packs->settled)
            leave(packs, i);
        else if (pack->number == packs->settled)
            pack->end = packs->settled_end;
    }
    packs->current = NULL;
}

void packs_settle(struct packs *packs, bool committed) {
    if (committed)
        keep(packs);
    else
        undo(packs);
    buf_clear(&packs->pending);
    packs->written = false;
    packs->status = STATUS_OK;
}

/* ---- reading ---- */

static struct pack *borrow(struct packs *packs, uint64_t number) {
    pthread_mutex_lock(&packs->lock);
    struct pack *pack = find(packs, number);
    if (pack && pack->gone)
        pack = NULL;
    if (pack)
        pack->readers++;
    pthread_mutex_unlock(&packs->lock);
    return pack;
}

static void give_back(struct packs *packs, struct pack *pack) {
    pthread_mutex_lock(&packs->lock);
    bool last = --pack->readers == 0 && pack->removed;
    pthread_mutex_unlock(&packs->lock);
    if (last)
        pack_free(pack);
}

enum status packs_read(struct packs *packs, struct pack_place place, struct arena *arena,
                       struct bytes *out, struct err *err) {
    struct pack *pack = borrow(packs, pack_number_of(place.at));
    if (!pack)
        return err_set(err, STATUS_NOT_FOUND, "its pack is gone");
    enum status status = pack_read(pack, place, arena, out, err);
    give_back(packs, pack);
    return status;
}

static int by_place(const void *a, const void *b) {
    uint64_t left = ((const struct packs_wish *)a)->place.at;
    uint64_t right = ((const struct packs_wish *)b)->place.at;
    return (left > right) - (left < right);
}

static uint64_t behind(struct pack_place place) {
    return place.at + pack_record_size(place.len);
}

/* How many of the first wishes are near enough to be read with the first. */
static size_t run_length(const struct packs_wish *wishes, size_t count) {
    size_t length = 1;
    while (length < count &&
           pack_number_of(wishes[length].place.at) == pack_number_of(wishes[0].place.at) &&
           wishes[length].place.at <= behind(wishes[length - 1].place) + RUN_GAP_BYTES &&
           behind(wishes[length].place) - wishes[0].place.at <= RUN_BYTES)
        length++;
    return length;
}

/* Of what is read together only what is wanted stays. */
static enum status read_run(struct packs *packs, struct packs_wish *wishes, size_t count,
                            struct arena *arena, struct err *err) {
    struct pack *pack = borrow(packs, pack_number_of(wishes[0].place.at));
    if (!pack)
        return err_set(err, STATUS_NOT_FOUND, "its pack is gone");
    uint64_t len = behind(wishes[count - 1].place) - wishes[0].place.at;
    uint8_t *run = memory_grow(NULL, len);
    enum status status = pack_read_run(pack, wishes[0].place.at, run, len, err);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct bytes bytes;
        status = pack_record(run + (wishes[i].place.at - wishes[0].place.at), wishes[i].place,
                             &bytes, err);
        if (status == STATUS_OK)
            *wishes[i].bytes = arena_dup(arena, bytes);
    }
    free(run);
    give_back(packs, pack);
    return status;
}

enum status packs_read_all(struct packs *packs, struct packs_wish *wishes, size_t count,
                           struct arena *arena, struct err *err) {
    if (count == 0)
        return STATUS_OK;
    qsort(wishes, count, sizeof *wishes, by_place);
    size_t at = 0;
    while (at < count && wishes[at].place.at == 0)
        at++;
    enum status status = STATUS_OK;
    for (size_t length; status == STATUS_OK && at < count; at += length) {
        length = run_length(wishes + at, count - at);
        status = read_run(packs, wishes + at, length, arena, err);
    }
    return status;
}

const struct pack *packs_wasteful(const struct packs *packs) {
    const struct pack *worst = NULL;
    for (size_t i = 0; i < packs->count; i++) {
        const struct pack *pack = packs->all[i];
        if (pack != packs->current && !pack->gone && pack->live < pack->end / WASTE_SHARE &&
            (!worst || pack->live < worst->live))
            worst = pack;
    }
    return worst;
}
