#include "store/sqlite/packs.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/sqlite/packs_table.h"

enum {
    WASTE_SHARE = 2,
    RUN_BYTES = 1 << 20,     /* read at once */
    RUN_GAP_BYTES = 8 << 10, /* between two that are */
};

/* ---- opening ---- */

/* What is dead may have lost its file before its row. */
static void add_gone(struct packs *packs, uint64_t number) {
    struct pack *pack = memory_new(sizeof *pack);
    *pack =
        (struct pack){.disk = packs->options.disk, .number = number, .gone = true, .unsaved = true};
    packs_table_add(packs, pack);
}

static enum status load_one(struct packs *packs, sqlite3_stmt *stmt, struct err *err) {
    struct pack *pack = NULL;
    struct err trouble;
    uint64_t number = (uint64_t)sqlite3_column_int64(stmt, 0);
    uint64_t live = (uint64_t)sqlite3_column_int64(stmt, 2);
    enum status status = pack_open(packs->options.disk, packs->dir, number, false, &pack, &trouble);
    bool is_unknown = status == STATUS_IO; /* another time it may be there */
    packs->last = number;
    if (status == STATUS_OK) {
        pack->end = (uint64_t)sqlite3_column_int64(stmt, 1);
        if (pack->end % PACK_BLOCK != 0) {
            pack_free(pack);
            status =
                err_set(&trouble, STATUS_CORRUPT, "pack %016llx: it is said to end inside a block",
                        (unsigned long long)number);
        }
    }
    if (status == STATUS_OK) {
        pack->live = live;
        packs_table_add(packs, pack);
    } else if (live == 0 && !(is_unknown && packs->options.report)) {
        add_gone(packs, number);
    } else if (is_unknown) {
        return err_set(err, status, "%s", trouble.text);
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

enum status packs_open(const struct packs_options *options, struct database *database,
                       struct packs **out, struct err *err) {
    struct packs *packs = memory_new(sizeof *packs);
    packs->options = *options;
    if (packs->options.pack_bytes == 0)
        packs->options.pack_bytes = PACKS_BYTES;
    packs->dir = bytes_dup(bytes_of(options->dir));
    pthread_mutex_init(&packs->lock, NULL);
    enum status status = load(packs, database, err);
    if (status != STATUS_OK) {
        packs_free(packs);
        return status;
    }
    struct pack *highest = packs->count > 0 ? packs->all[packs->count - 1] : NULL;
    if (highest && highest->number == packs->last && !highest->gone)
        packs->current = highest;
    packs->settled = packs->last;
    packs_table_settle(packs);
    *out = packs;
    return STATUS_OK;
}

void packs_remove_unknown(struct packs *packs) {
    struct disk *disk = packs->options.disk;
    struct sweep sweep = {packs, packs->last};
    (void)disk->vtable->list(disk, packs->dir, remove_if_unknown, &sweep);
}

void packs_free(struct packs *packs) {
    if (!packs)
        return;
    for (size_t i = 0; i < packs->count; i++)
        pack_free(packs->all[i]);
    free(packs->all);
    free(packs->pending.ptr);
    pthread_mutex_destroy(&packs->lock);
    free(packs->dir);
    free(packs);
}

/* ---- reading ---- */

static struct pack *borrow(struct packs *packs, uint64_t number) {
    pthread_mutex_lock(&packs->lock);
    struct pack *pack = packs_table_find(packs, number);
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
        if (pack != packs->current && !pack->gone && !pack->stays && !pack->lingers &&
            pack->live < pack->end / WASTE_SHARE && (!worst || pack->live < worst->live))
            worst = pack;
    }
    return worst;
}
