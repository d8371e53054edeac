#include "store/embedded/pages/packs.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/embedded/sqlite/bounds.h"
#include "store/embedded/pages/packs_refer.h"
#include "store/embedded/pages/packs_table.h"

enum {
    WASTE_SHARE = 2,
    RUN_BYTES = 1 << 20,     /* maximum size of one read */
    RUN_GAP_BYTES = 8 << 10, /* maximum gap between two places that are read together */
};

/* ---- opening ---- */

/* The file of an unused pack may have been removed before its row. */
static void add_gone(struct packs *packs, uint64_t number) {
    struct pack *pack = memory_new(sizeof *pack);
    *pack =
        (struct pack){.disk = packs->options.disk, .number = number, .gone = true, .unsaved = true};
    packs_table_add(packs, pack);
}

/* The row of a pack in the SQLite file. */
struct pack_claim {
    uint64_t number, bytes, live;
};

/* A file must be at least as long as its recorded end. For doctor it is accepted as it is. */
static enum status check_claim(const struct packs *packs, struct pack *pack,
                               const struct pack_claim *claim, struct err *err) {
    uint64_t size;
    enum status status = pack_size(pack, &size, err);
    if (status != STATUS_OK)
        return status;
    pack->end = claim->bytes;
    pack->live = claim->live;
    if (claim->bytes % PACK_BLOCK == 0 && claim->bytes >= PACK_BLOCK && claim->bytes <= size &&
        claim->live <= claim->bytes)
        return STATUS_OK;
    struct err trouble;
    err_set(&trouble, STATUS_CORRUPT,
            "the SQLite file, table packs: pack %016llx is said to end at %llu with %llu bytes in "
            "use, and has %llu",
            (unsigned long long)claim->number, (unsigned long long)claim->bytes,
            (unsigned long long)claim->live, (unsigned long long)size);
    if (!packs->options.report)
        return err_set(err, STATUS_CORRUPT, "%s", trouble.text);
    buf_printf(packs->options.report, "%s\n", trouble.text);
    pack->end = size;
    pack->live = claim->live <= size ? claim->live : size;
    pack->unsaved = true;
    return STATUS_OK;
}

static enum status open_claimed(struct packs *packs, const struct pack_claim *claim,
                                struct pack **out, struct err *err) {
    enum status status = pack_open(packs->options.disk, packs->dir, claim->number, false, out, err);
    if (status != STATUS_OK)
        return status;
    status = check_claim(packs, *out, claim, err);
    if (status != STATUS_OK)
        pack_free(*out);
    return status;
}

static enum status load_one(struct packs *packs, const struct pack_claim *claim, struct err *err) {
    struct pack *pack = NULL;
    struct err trouble;
    enum status status = open_claimed(packs, claim, &pack, &trouble);
    bool is_unknown = status == STATUS_IO; /* the error may be temporary */
    packs->last = claim->number;
    if (status == STATUS_OK) {
        packs_table_add(packs, pack);
    } else if (claim->live == 0 && !(is_unknown && packs->options.report)) {
        add_gone(packs, claim->number);
    } else if (is_unknown) {
        return err_set(err, status, "%s", trouble.text);
    } else if (packs->options.report) {
        buf_printf(packs->options.report, "%s\n", trouble.text);
    } else {
        return err_set(err, STATUS_CORRUPT, "%s", trouble.text);
    }
    return STATUS_OK;
}

/* For doctor: reports and skips a row that is invalid for any pack. */
static enum status pass_over(struct packs *packs, const struct bounds *row) {
    buf_printf(packs->options.report, "%s\n", row->err->text);
    return STATUS_OK;
}

static enum status load(struct packs *packs, struct database *database, struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(database, SQL_PACKS);
    while (database_next(database, stmt, &status, err)) {
        struct bounds row = {.stmt = stmt, .table = "packs", .err = err};
        struct pack_claim claim = {.number = (uint64_t)bounds_int(&row, 0, 1, PACK_NUMBER_MAX),
                                   .bytes = bounds_count(&row, 1),
                                   .live = bounds_count(&row, 2)};
        status = row.status;
        if (status == STATUS_OK)
            status = load_one(packs, &claim, err);
        else if (packs->options.report)
            status = pass_over(packs, &row);
        if (status != STATUS_OK) {
            sqlite3_reset(stmt);
            return status;
        }
    }
    return status;
}

/* Packs after the last one that the SQLite file lists are of a fold that was not committed. But if
 * it lists none at all it may be new, in the place of a lost one: then they are kept. */
struct pack_sweep {
    struct packs *packs;
    uint64_t known;
};

static void remove_if_unknown(void *arg, const char *name) {
    struct pack_sweep *sweep = arg;
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

/* The next fold overwrites the bytes after the end of the last pack. If a row refers to them, the
 * recorded end is wrong. */
static enum status check_tail(struct packs *packs, struct database *database, struct err *err) {
    struct pack *pack = packs->current;
    struct packs_reference found = {0};
    uint64_t size = 0;
    enum status status = pack_size(pack, &size, err);
    if (status == STATUS_OK)
        status = packs_refer_behind(pack, pack->end, size, database, &found, err);
    if (status != STATUS_OK || !found.is)
        return status;
    struct err trouble;
    err_set(&trouble, STATUS_CORRUPT,
            "the SQLite file, table packs: pack %016llx is said to end at %llu, but message %llu "
            "refers to a place behind that",
            (unsigned long long)pack->number, (unsigned long long)pack->end,
            (unsigned long long)found.seq);
    if (!packs->options.report)
        return err_set(err, STATUS_CORRUPT, "%s", trouble.text);
    buf_printf(packs->options.report, "%s\n", trouble.text);
    pack->end = size;
    pack->unsaved = true;
    return STATUS_OK;
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
    status = packs->current ? check_tail(packs, database, err) : STATUS_OK;
    if (status != STATUS_OK) {
        packs_free(packs);
        return status;
    }
    packs_table_settle(packs);
    *out = packs;
    return STATUS_OK;
}

void packs_remove_unknown(struct packs *packs) {
    struct disk *disk = packs->options.disk;
    struct pack_sweep sweep = {packs, packs->last};
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

enum status packs_read(struct packs *packs, struct pack_place place, struct pack_owner owner,
                       struct arena *arena, struct bytes *out, struct err *err) {
    struct pack *pack = borrow(packs, pack_number_of(place.at));
    if (!pack)
        return err_set(err, STATUS_NOT_FOUND, "its pack is gone");
    enum status status = pack_read(pack, place, owner, arena, out, err);
    give_back(packs, pack);
    return status;
}

static int by_place(const void *a, const void *b) {
    uint64_t left = ((const struct packs_wish *)a)->place.at;
    uint64_t right = ((const struct packs_wish *)b)->place.at;
    return (left > right) - (left < right);
}

/* A length beyond the maximum of a pack is clipped to one that pack_within refuses. */
static uint64_t behind(struct pack_place place) {
    return place.at + pack_record_size(place.len < PACK_OFFSET_MAX ? place.len : PACK_OFFSET_MAX);
}

/* Two rows of a damaged file may refer to the same place. */
static uint64_t run_bytes(const struct packs_wish *wishes, size_t count) {
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++)
        end = behind(wishes[i].place) > end ? behind(wishes[i].place) : end;
    return end - wishes[0].place.at;
}

/* The number of places that are near enough to be read together with the first. */
static size_t run_length(const struct packs_wish *wishes, size_t count) {
    size_t length = 1;
    while (length < count &&
           pack_number_of(wishes[length].place.at) == pack_number_of(wishes[0].place.at) &&
           wishes[length].place.at <= behind(wishes[length - 1].place) + RUN_GAP_BYTES &&
           behind(wishes[length].place) - wishes[0].place.at <= RUN_BYTES)
        length++;
    return length;
}

/* Copies the wanted bytes out of the range that is read. */
static enum status read_run(struct packs *packs, struct packs_wish *wishes, size_t count,
                            struct arena *arena, struct err *err) {
    struct pack *pack = borrow(packs, pack_number_of(wishes[0].place.at));
    if (!pack)
        return err_set(err, STATUS_NOT_FOUND, "its pack is gone");
    uint64_t len = run_bytes(wishes, count);
    enum status status = pack_within(pack, wishes[0].place.at, len, err);
    uint8_t *run = status == STATUS_OK ? memory_grow(NULL, len) : NULL;
    if (status == STATUS_OK)
        status = pack_read_run(pack, wishes[0].place.at, run, len, err);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct bytes bytes;
        status = pack_record(run + (wishes[i].place.at - wishes[0].place.at), wishes[i].place,
                             wishes[i].owner, &bytes, err);
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
