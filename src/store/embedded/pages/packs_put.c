#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/embedded/pages/packs_refer.h"
#include "store/embedded/pages/packs_table.h"

enum {
    WRITE_BYTES = 1 << 20, /* size of one write */
    PENDING_MAX = INT32_MAX / PACK_BLOCK * PACK_BLOCK,
};

/* ---- putting ---- */

static enum status io_trouble(const struct packs *packs, int error, const char *doing,
                              struct err *err) {
    return err_set(err, error == ENOSPC || error == EDQUOT ? STATUS_FULL : STATUS_IO,
                   "%s a pack in %s: %s", doing, packs->dir, strerror(error));
}

/* Writes whole blocks; the remainder starts the next one. */
static enum status write_pending(struct packs *packs, struct err *err) {
    struct buf *pending = &packs->pending;
    size_t whole = pending->len / PACK_BLOCK * PACK_BLOCK;
    if (whole == 0)
        return STATUS_OK;
    struct disk *disk = packs->options.disk;
    int error = disk->vtable->write(disk, packs->current->file, packs->current->end - pending->len,
                                    pending->ptr, whole);
    packs->written = true;
    pending->len -= whole;
    memmove(pending->ptr, pending->ptr + whole, pending->len);
    return error ? io_trouble(packs, error, "writing", err) : STATUS_OK;
}

/* Makes room for `more` bytes and for the rest of a block. Aligned to pages, because direct I/O
 * then needs no copy. */
static enum status make_room(struct packs *packs, uint64_t more, struct err *err) {
    struct buf *pending = &packs->pending;
    uint64_t need = pending->len + more + PACK_BLOCK;
    if (need <= pending->cap)
        return STATUS_OK;
    if (need > PENDING_MAX)
        return err_set(err, STATUS_TOO_LARGE, "a record is too large for a pack");
    size_t size = 2 * WRITE_BYTES;
    while (size < need)
        size = size > PENDING_MAX / 2 ? PENDING_MAX : 2 * size;
    char *memory = memory_pages(size);
    if (pending->len > 0)
        memcpy(memory, pending->ptr, pending->len);
    free(pending->ptr);
    size_t len = pending->len;
    buf_init_fixed(pending, memory, size);
    pending->len = len;
    return STATUS_OK;
}

static void pad(struct packs *packs, uint64_t bytes) {
    if (bytes > 0)
        memset(buf_room(&packs->pending, bytes), 0, bytes);
    packs->current->end += bytes;
}

static uint64_t left_in_block(const struct packs *packs) {
    return (PACK_BLOCK - packs->current->end % PACK_BLOCK) % PACK_BLOCK;
}

/* Writes the current transaction's records in the current pack to disk. */
static enum status finish_pack(struct packs *packs, struct err *err) {
    if (!packs->current)
        return STATUS_OK;
    pad(packs, left_in_block(packs));
    enum status status = write_pending(packs, err);
    assert(packs->pending.len == 0);
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
        packs_table_add(packs, pack);
        packs->current = pack;
        packs->made = packs->written = true;
    }
    return status;
}

/* For the next record, of `size` bytes. */
static enum status prepare(struct packs *packs, uint64_t size, struct err *err) {
    enum status status = STATUS_OK;
    if (!packs->current || packs->current->end >= packs->options.pack_bytes)
        status = next_pack(packs, err);
    else if (packs->pending.len >= WRITE_BYTES)
        status = write_pending(packs, err);
    if (status == STATUS_OK)
        status = make_room(packs, size, err);
    if (status == STATUS_OK && left_in_block(packs) < PACK_HEAD_BYTES)
        pad(packs, left_in_block(packs));
    return status;
}

struct pack_place packs_put(struct packs *packs, uint64_t seq, enum pack_part part,
                            struct bytes bytes) {
    if (packs->status == STATUS_OK)
        packs->status = prepare(packs, pack_record_size(bytes.len), &packs->err);
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
    struct pack *pack = place.at ? packs_table_find(packs, pack_number_of(place.at)) : NULL;
    if (!pack || !pack_holds(pack, place)) /* the row that refers to it is damaged */
        return;
    pack->added -= (int64_t)pack_record_size(place.len);
    pack->unsaved = true;
}

/* ---- end of the transaction ---- */

/* Never below zero: a damaged row may have a length that its record does not have. */
static uint64_t live_after(const struct pack *pack) {
    int64_t live = (int64_t)pack->live + pack->added;
    return live > 0 ? (uint64_t)live : 0;
}

static bool is_dead(const struct packs *packs, const struct pack *pack) {
    return pack != packs->current && live_after(pack) == 0;
}

/* The row of an unused pack stays until its file is removed. */
static enum status save(const struct pack *pack, struct database *database, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, pack->gone ? SQL_PACK_DELETE : SQL_PACK_SET);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)pack->number);
    if (!pack->gone) {
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)pack->end);
        sqlite3_bind_int64(stmt, 3, (sqlite3_int64)live_after(pack));
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
    if (packs->status != STATUS_OK && err)
        *err = packs->err;
    enum status status = packs->status;
    for (size_t i = 0; status == STATUS_OK && i < packs->count; i++) {
        if (packs->all[i]->unsaved)
            status = save(packs->all[i], database, err);
    }
    return status;
}

/* True if the file does not exist any more. */
static bool remove_file(const struct packs *packs, const struct pack *pack) {
    struct err err;
    enum status status = pack_remove_file(packs->options.disk, packs->dir, pack->number, &err);
    if (status != STATUS_OK)
        log_warn("%s", err.text);
    return status == STATUS_OK || status == STATUS_NOT_FOUND;
}

/* Checks the records, and not only the counter, because the removal of a pack cannot be undone. */
static bool is_unused(const struct pack *pack, struct database *database) {
    struct packs_reference found;
    struct err err;
    enum status status = packs_refer_any(pack, database, &found, &err);
    if (status == STATUS_OK && found.is)
        log_error("pack %016llx is counted as unused, but message %llu refers to it: it stays; "
                  "`impound doctor --repair` counts anew",
                  (unsigned long long)pack->number, (unsigned long long)found.seq);
    else if (status != STATUS_OK)
        log_error("pack %016llx stays, because its rows cannot be read: %s",
                  (unsigned long long)pack->number, err.text);
    return status == STATUS_OK && !found.is;
}

static void bury(struct packs *packs, struct pack *pack, struct database *database) {
    pack->lingers = !is_unused(pack, database) || !remove_file(packs, pack);
    if (pack->lingers)
        return;
    pthread_mutex_lock(&packs->lock);
    pack->gone = pack->unsaved = true;
    pthread_mutex_unlock(&packs->lock);
}

/* Packs that this transaction did not change are checked too, because one may have become unused
 * while it was the current pack. But doctor has just recounted the references: then no pack is
 * checked before the next start. */
static void keep(struct packs *packs, struct database *database) {
    bool judging = !packs->options.report;
    for (size_t i = packs->count; i-- > 0;) {
        struct pack *pack = packs->all[i];
        bool saved = pack->unsaved, dead = judging && is_dead(packs, pack);
        pack->live = live_after(pack);
        pack->added = 0;
        pack->unsaved = pack->doubted = false;
        if (saved && pack->gone)
            packs_table_leave(packs, i);
        else if (dead && !pack->gone && !pack->lingers)
            bury(packs, pack, database);
    }
    packs_table_settle(packs);
}

/* A transaction whose COMMIT failed may still be in the SQLite file after a crash, until the next
 * one is committed: so its records are not overwritten, and the packs that it created stay until
 * then. A transaction that never reached COMMIT cannot be in the file. */
static void undo(struct packs *packs, bool in_doubt) {
    for (size_t i = packs->count; i-- > 0;) {
        struct pack *pack = packs->all[i];
        bool begun = pack->number > packs->settled && !pack->gone;
        pack->added = 0;
        pack->doubted |= begun && in_doubt;
        pack->unsaved = pack->gone || pack->doubted;
        if (pack->number == packs->settled)
            pack->end = packs->settled_end;
        if (begun && !pack->doubted) {
            remove_file(packs, pack);
            packs_table_leave(packs, i);
        }
    }
    packs->current = NULL;
}

void packs_settle(struct packs *packs, struct database *database, enum packs_outcome outcome) {
    if (outcome == PACKS_COMMITTED)
        keep(packs, database);
    else
        undo(packs, outcome == PACKS_IN_DOUBT);
    buf_clear(&packs->pending);
    packs->written = false;
    packs->status = STATUS_OK;
}
