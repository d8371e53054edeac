/* sqlite_store: the embedded store, `sqlite:impound.db`: a journal for durability, and SQLite for
 * lists and queries. */
#ifndef STORE_EMBEDDED_SQLITE_STORE_H
#define STORE_EMBEDDED_SQLITE_STORE_H

#include "port/clock.h"
#include "port/cluster.h"
#include "port/disk.h"
#include "port/journal.h"
#include "port/letters.h"

struct sqlite_store_options {
    const char *path;  /* "impound.db"; the journal is in "<path>.d/" */
    struct disk *disk; /* for the journal */
    const char *vfs;   /* SQLite VFS name; NULL: the default. A simulation has its own */
    struct clock *clock;
    /* The account that bodies in memory are charged to; NULL: none. */
    struct body_memory *memory;
    bool threads;                   /* false: a simulation calls sqlite_store_step instead */
    uint64_t journal_max_bytes;     /* 0: 4 GiB; when the journal is full, commits wait */
    uint64_t journal_segment_bytes; /* 0: 64 MiB; a simulation uses small segments */
    uint64_t pack_bytes;            /* 0: PACKS_BYTES; a simulation uses small packs */
    /* Changes in one fold; 0: FOLD_CHANGES; a simulation uses few. */
    size_t fold_changes;
    size_t waiting_max; /* waiting messages in memory; 0: WAITING_MAX; a simulation uses few */
    /* A body with more bytes is stored in a file of its own, <path>.large/<letter id>; 0: no limit.
     */
    uint64_t large_bytes;
    size_t wal_pages;        /* pages in SQLite's WAL that make a checkpoint due; 0: WAL_PAGES */
    struct journal *journal; /* closed with the store; NULL: segments in "<path>.d/" */
    struct cluster *cluster; /* knows which queues this node owns; NULL: all of them */
};

/* Opens, creates and recovers. CORRUPT: err names the damage and refers to `impound doctor`; BUSY:
 * another process has the store open. */
enum status sqlite_store_open(const struct sqlite_store_options *options, struct store **out,
                              struct err *err);

/* Without threads: step writes and syncs all submitted commits; fold folds once. IO and FULL are
 * reported to the commits, not here. */
void sqlite_store_step(struct store *store);
void sqlite_store_fold(struct store *store);
/* Without threads: simulates a power failure: no flush, no sync, memory freed. Commits in progress
 * are dropped without a call of `done`. */
void sqlite_store_crash(struct store *store);

/* The result of sqlite_store_try for large bodies. */
struct sqlite_store_trial {
    struct buf *report; /* a line for each body whose file is missing or damaged */
    uint64_t damaged;   /* number of those bodies */
    /* Number of files that no message refers to: opening the store removes them. */
    uint64_t orphans;
};

/* Recovers as sqlite_store_open does, and closes without a fold: checks whether a server could
 * start. The caller must hold the lock, and no connection may be open. */
enum status sqlite_store_try(const struct sqlite_store_options *options,
                             struct sqlite_store_trial *trial, struct err *err);

/* `impound doctor`: checks checksums, counters against rows, and positions. Writes one line per
 * finding to `report`; returns CORRUPT if something is wrong, with the possible remedy in *err.
 * With `repair`, recovers every intact record, into a new file if the SQLite file is missing. */
enum status sqlite_store_doctor(const struct sqlite_store_options *options, bool repair,
                                struct buf *report, struct err *err);

#endif
