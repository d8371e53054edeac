/* store_internal: the members of the embedded store, and the locks that guard them.
 *
 *   submit → batches → [writer thread] → journal → tables (memory) → [fold thread] → SQLite
 *          ↘ [lookup thread] ↗ [caller that waits]                 → [row builder] → packs
 *
 * A commit that needs a row that is in the file only goes through the lookup thread, so that
 * neither its caller nor other commits wait for the file (prefetch.h).
 *
 * The front's `mutex` guards the tables and all other members, unless stated otherwise. Each
 * database connection has its own lock. Once the store is open, the mutex is never held together
 * with one of these, nor during a call of the journal: a thread that holds it never waits for the
 * disk. */
#ifndef STORE_EMBEDDED_STORE_INTERNAL_H
#define STORE_EMBEDDED_STORE_INTERNAL_H

#include <pthread.h>

#include "base/log_throttle.h"
#include "port/cluster.h"
#include "port/journal.h"
#include "store/tables/commit_batch.h"
#include "store/tables/front.h"
#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite_store.h"

enum {
    FOLD_DELAY_MS = 500,      /* the maximum time between a commit and its fold */
    FOLD_CHANGES = 32768,     /* number of changes that are sealed as one fold */
    FULL_FOLD_CHANGES = 1024, /* the same on a full disk, so that SQLite's WAL stays small */
    /* Maximum number of changes that wait for folds; further commits wait. */
    BEHIND_MAX = 1 << 20,
    FOLD_CACHE_KIB = 64 << 10, /* large enough for the pages that one fold changes */
    FOLD_RETRY_MS = 1000,      /* delay after a fold that failed */
    /* Maximum time for which the fold slows down during a burst of commits. */
    GIVE_WAY_MS = 10000,
    GIVE_WAY_SHARE = 30,         /* it works 1/30 of the time meanwhile */
    LIST_WAIT_MS = 2000,         /* maximum time that a list waits for the fold */
    GROUP_BYTES_MAX = 8 << 20,   /* size of one journal group, unless a single commit is larger */
    FOLD_KEEP_BYTES = 32 << 20,  /* size of notes in one fold */
    KEEP_BYTES_MAX = 256 << 20,  /* size of notes that wait for folds; further commits wait */
    SWEEP_MS = 60 * 1000,        /* interval of the search for expired notes */
    RECENT_BYTES_MAX = 64 << 20, /* size of envelopes and bodies kept in memory */
    /* Number of waiting messages in memory; further ones are in the file only. */
    WAITING_MAX = 256 << 10,
    /* Each paged queue may always have 1/64 of them. */
    WAITING_SHARE = 64,
};
/* 1/4 of the journal's size limit stays allocated when all is folded. */
enum { JOURNAL_KEEP_SHARE = 4 };
#define JOURNAL_BYTES_DEFAULT (UINT64_C(4) << 30)

static const char parts_full_text[] =
    "the disk is full, and the reserve is given up: discard letters, shorten retention or make "
    "room "
    "on the disk; until then only commits that free space are taken";

struct row_builder;
struct packs;
struct snapshot;
struct time_bounds;
struct wal;

struct sqlite_store {
    struct front front;
    struct sqlite_store_options options; /* with copies of its texts */
    char *dir;
    int lock_file; /* -1: none */
    bool on_trial; /* opened by sqlite_store_try: no file is removed */

    pthread_cond_t look_asked; /* wakes the lookup thread */
    pthread_cond_t submitted;  /* wakes the writer */
    pthread_cond_t fold_asked; /* wakes the fold thread */
    pthread_cond_t fold_ended; /* wakes threads that wait for a fold */

    struct list recent; /* entries whose bytes are in memory, oldest first */
    size_t recent_bytes;

    struct commit_batch *looking_first,
        **looking_last; /* commits that wait for the lookup thread */
    bool looking_stopping;
    struct commit_batch *first, **last; /* commits that wait to be written */
    uint64_t tickets;
    /* A thread writes them: the writer thread, or a caller that waits for its commit. */
    bool writing;
    bool stopping;

    struct list changes; /* entries that the next fold writes */
    size_t change_count;
    struct snapshot *sealed_first, **sealed_last; /* folds that wait or are in progress, in order */
    /* Written; owned by the fold, or by the row builder while it is deferred. */
    struct snapshot *unsettled;
    size_t folding_count; /* number of entries in these folds */
    uint64_t applied_end; /* the tables contain the journal up to this position */
    uint64_t sealed_end;  /* the sealed folds contain it up to this position */
    uint64_t folded_end;  /* the file contains it up to this position */
    /* Incremented when entries that a fold wrote begin to leave memory. */
    uint64_t settles;
    /* Number of settled entries since memory was last returned to the system; same owner as
     * `unsettled`. */
    size_t settled_count;
    uint64_t fold_failures;
    struct log_throttle fold_trouble; /* used by the fold thread only */
    bool fold_wanted;                 /* fold at once */
    bool fold_stopping;
    struct mono fold_due;     /* MONO_NEVER: no change waits for a fold */
    struct mono burst_at;     /* the last time at which a burst of commits was detected */
    struct mono pace_since;   /* start of the measurement of the commit rate */
    uint64_t pace_from;       /* end of the journal at that time */
    struct mono behind_since; /* the time since which the file is not up to date */
    int64_t fold_worked_us;   /* when the fold last paused, in CLOCK_MONOTONIC */
    struct instant opened;    /* for steady_wall */
    struct mono sweep_due;    /* used by the fold thread only: the next search for expired notes */

    struct large *large;
    struct store_health health;
    uint64_t reserve_bytes; /* size of the reserve file; 0: there is none */
    /* The reserve was released: only commits that free space are accepted. */
    bool disk_full;

    struct journal *journal;
    struct cluster *cluster;
    struct database connections[3]; /* only one is used without threads */
    struct database *fold_db, *lookup_db, *list_db;
    struct wal *wal;             /* used by the fold, and by the thread that settles it */
    struct packs *packs;         /* changed by the fold thread only; read by any thread */
    struct time_bounds *spread;  /* has its own lock, which is never held together with another */
    struct row_builder *drafter; /* used by the fold; NULL without threads */
    pthread_t lookup_thread, writer_thread, fold_thread, spread_thread;
};

/* The number of committed changes that are not in the file. Called with the mutex. */
static inline size_t store_internal_behind(const struct sqlite_store *self) {
    return self->change_count + self->front.tables.keeps.change_count + self->folding_count;
}

static inline struct sqlite_store *store_internal_of(struct store *store) {
    return CONTAINER_OF(store, struct sqlite_store, front.port);
}

static inline struct sqlite_store *store_internal_of_letters(struct letters *letters) {
    return CONTAINER_OF(letters, struct sqlite_store, front.letters);
}

#endif
