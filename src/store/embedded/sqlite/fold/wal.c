#include "store/embedded/sqlite/fold/wal.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"

enum { LONG_FACTOR = 4 }; /* times the number of pages that makes a checkpoint due */

struct wal {
    struct database *fold_db;
    /* For checkpoints only; if it is not open, the fold's connection makes them. */
    struct database own;
    atomic_bool doubted;
    int pages;
    int written; /* pages in the WAL, as SQLite reports at each commit; used by the fold */
    bool anew;   /* used by the fold: the WAL was restarted */
    int copied;  /* pages that are in the file; used by the thread that makes checkpoints */
    bool due;
};

static int note_commit(void *arg, sqlite3 *db, const char *name, int written) {
    struct wal *wal = arg;
    (void)db;
    (void)name;
    wal->anew |= written < wal->written;
    wal->written = written;
    return SQLITE_OK;
}

enum status wal_open(const struct database_options *options, struct database *fold_db, size_t pages,
                     struct wal **out, struct err *err) {
    struct wal *wal = memory_new(sizeof *wal);
    wal->fold_db = fold_db;
    wal->pages = pages ? (int)pages : WAL_PAGES;
    enum status status = options ? database_open(options, &wal->own, err) : STATUS_OK;
    if (status != STATUS_OK) {
        free(wal);
        return status;
    }
    sqlite3_wal_hook(fold_db->db, note_commit, wal);
    *out = wal;
    return STATUS_OK;
}

void wal_close(struct wal *wal) {
    if (!wal)
        return;
    if (wal->own.db)
        database_close(&wal->own);
    free(wal);
}

bool wal_look(struct wal *wal) {
    if (wal->anew)
        wal->copied = 0;
    wal->anew = false;
    wal->due = wal->written - wal->copied >= wal->pages;
    return wal->written >= LONG_FACTOR * wal->pages;
}

/* Passive: waits for no reader, and copies the pages that no reader needs in the WAL. */
void wal_checkpoint(struct wal *wal) {
    if (!wal->due)
        return;
    wal->due = false;
    sqlite3 *db = wal->own.db ? wal->own.db : wal->fold_db->db;
    struct err err;
    int code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, &wal->copied);
    if (code == SQLITE_OK || database_trouble(db, "a checkpoint", &err) == STATUS_BUSY)
        return;
    wal_doubt(wal);
    log_warn("SQLite's log grows: %s", err.text);
}

void wal_doubt(struct wal *wal) {
    atomic_store(&wal->doubted, true);
}

enum status wal_trust(struct wal *wal, struct err *err) {
    sqlite3 *db = wal->fold_db->db;
    if (!atomic_load(&wal->doubted))
        return STATUS_OK;
    if (sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL) != SQLITE_OK)
        return database_trouble(db, "beginning its log anew, once nobody reads the file", err);
    atomic_store(&wal->doubted, false);
    return STATUS_OK;
}
