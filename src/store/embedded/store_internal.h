/* parts: what the embedded store is made of, and which lock guards what.
 *
 *   submit → batches → [writer thread] → journal → tables (memory) → [fold thread] → SQLite
 *          ↘ [lookup thread] ↗ [caller that waits]                 → [drafter] → packs
 *
 * A commit that asks for what is in the file alone goes by way of the lookup thread, so that
 * neither its caller nor other commits wait for the file (prefetch.h).
 *
 * The front's `mutex` guards the tables and everything else here that is not said to be otherwise.
 * Each database connection has its own lock. Once the store is open, the mutex is not held with one
 * of these, nor over a call of the journal: nobody who holds it waits for the disk. */
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
    FOLD_DELAY_MS = 500,         /* a commit is folded at the latest this long after it */
    FOLD_CHANGES = 32768,        /* of one fold: so many are sealed and stand in line */
    FULL_FOLD_CHANGES = 1024,    /* the same on a full disk, so that SQLite's log stays small */
    BEHIND_MAX = 1 << 20,        /* changes that wait for folds; then commits wait for them too */
    FOLD_CACHE_KIB = 64 << 10,   /* holds the pages that one fold changes */
    FOLD_RETRY_MS = 1000,        /* after a fold that failed */
    GIVE_WAY_MS = 10000,         /* so long at most the fold lets a burst of commits go first */
    GIVE_WAY_SHARE = 30,         /* and does a part of what it could */
    LIST_WAIT_MS = 2000,         /* for the fold, by a list */
    GROUP_BYTES_MAX = 8 << 20,   /* of one journal group, unless a single commit is larger */
    FOLD_KEEP_BYTES = 32 << 20,  /* of kept texts in one fold */
    KEEP_BYTES_MAX = 256 << 20,  /* of those that wait for folds; then commits wait for them too */
    SWEEP_MS = 60 * 1000,        /* between two looks for texts that expired */
    RECENT_BYTES_MAX = 64 << 20, /* of envelopes and bodies kept in memory */
    WAITING_MAX = 256 << 10,     /* messages that wait in memory; beyond that in the file alone */
    WAITING_SHARE = 64,          /* of them, that each lane of a queue may have whatever waits */
};
enum { JOURNAL_KEEP_SHARE = 4 }; /* of the journal's bound stays on disk when all is folded */
#define JOURNAL_BYTES_DEFAULT (UINT64_C(4) << 30)

static const char parts_full_text[] =
    "the disk is full, and the reserve is given up: discard letters, shorten retention or make "
    "room "
    "on the disk; until then only commits that free space are taken";

struct drafter;
struct packs;
struct snapshot;
struct spread;
struct wal;

struct sqlite_store {
    struct front front;
    struct sqlite_store_options options; /* its texts are our own copies */
    char *dir;
    int lock_file; /* -1: none */
    bool on_trial; /* opened to see whether it opens: nothing is removed */

    pthread_cond_t look_asked; /* for the lookup thread */
    pthread_cond_t submitted;  /* for the writer */
    pthread_cond_t fold_asked; /* for the fold thread */
    pthread_cond_t fold_ended; /* for those who wait for a fold */

    struct list recent; /* entries whose bytes are in memory, the oldest first */
    size_t recent_bytes;

    struct commit_batch *looking_first,
        **looking_last; /* commits that wait for a look into the file */
    bool looking_stopping;
    struct commit_batch *first, **last; /* commits that wait to be written */
    uint64_t tickets;
    bool writing; /* somebody writes them: the thread, or one who waits for its own */
    bool stopping;

    struct list changes; /* entries that the next fold writes */
    size_t change_count;
    struct snapshot *sealed_first, **sealed_last; /* folds that wait or are under way, in order */
    struct snapshot *unsettled; /* written; the fold's, or the drafter's while it is deferred */
    size_t folding_count;       /* entries in them */
    uint64_t applied_end;       /* the journal up to here is in the tables */
    uint64_t sealed_end;        /* and up to here in the folds that wait */
    uint64_t folded_end;        /* and up to here in the file */
    uint64_t settles;           /* grows when what a fold wrote begins to leave memory */
    size_t settled_count;       /* entries, since memory was last given back; as `unsettled` */
    uint64_t fold_failures;
    struct log_throttle fold_trouble; /* the fold's own */
    bool fold_wanted;                 /* at once */
    bool fold_stopping;
    struct mono fold_due;     /* MONO_NEVER: nothing waits for a fold */
    struct mono burst_at;     /* when commits were last seen to come as a burst */
    struct mono pace_since;   /* how fast they come is looked at from here on */
    uint64_t pace_from;       /* where the journal ended then */
    struct mono behind_since; /* since when the file has not been up to date */
    int64_t fold_worked_us;   /* when the fold last rested, by the machine's clock */
    struct instant opened;    /* for steady_wall */
    struct mono sweep_due;    /* the fold's own: when it next looks for texts that expired */

    struct large *large;
    struct store_health health;
    uint64_t reserve_bytes; /* that the reserve's file holds; 0: there is none */
    bool disk_full;         /* the reserve is given up: only commits that free space are taken */

    struct journal *journal;
    struct cluster *cluster;
    struct database connections[3]; /* one, when there are no threads */
    struct database *fold_db, *lookup_db, *list_db;
    struct wal *wal;         /* of the fold, and of who settles it */
    struct packs *packs;     /* the fold thread's to change; any thread reads */
    struct spread *spread;   /* has its own lock, which is held with no other */
    struct drafter *drafter; /* the fold's; NULL without threads */
    pthread_t lookup_thread, writer_thread, fold_thread, spread_thread;
};

/* With the mutex: changes committed but not in the file. */
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
