/* sqlite_store: the embedded store, `sqlite:impound.db`: a journal in front, SQLite behind. */
#ifndef STORE_EMBEDDED_SQLITE_STORE_H
#define STORE_EMBEDDED_SQLITE_STORE_H

#include "port/clock.h"
#include "port/cluster.h"
#include "port/disk.h"
#include "port/journal.h"
#include "port/letters.h"

struct sqlite_store_options {
    const char *path;  /* "impound.db"; the journal lives in "<path>.d/" */
    struct disk *disk; /* for the journal */
    const char *vfs;   /* SQLite VFS name; NULL: the default. A simulation brings its own */
    struct clock *clock;
    struct body_memory *memory;     /* where bodies that are read are counted; NULL: nowhere */
    bool threads;                   /* false: a simulation drives it with sqlite_store_step */
    uint64_t journal_max_bytes;     /* 0: 4 GiB; when full, callers wait */
    uint64_t journal_segment_bytes; /* 0: 64 MiB; a simulation wants small ones */
    uint64_t pack_bytes;            /* 0: PACKS_BYTES; a simulation wants small ones */
    size_t fold_changes;            /* of one fold; 0: FOLD_CHANGES; a simulation wants few */
    size_t waiting_max; /* messages that wait in memory; 0: WAITING_MAX; a simulation wants few */
    /* A body above so many bytes goes into a file of its own, <path>.large/<letter id>; 0: none */
    uint64_t large_bytes;
    size_t wal_pages;        /* of SQLite's log, that make a checkpoint due; 0: WAL_PAGES */
    struct journal *journal; /* closed with the store; NULL: segments in "<path>.d/" */
    struct cluster *cluster; /* whose queues are ours; NULL: all of them */
};

/* Opens, creates and recovers. CORRUPT: what is damaged and that `impound doctor` tells more; BUSY:
 * another process has it open. */
enum status sqlite_store_open(const struct sqlite_store_options *options, struct store **out,
                              struct err *err);

/* Without threads: writes and syncs all that was submitted / folds once. IO and FULL are reported
 * to the commits, not here. */
void sqlite_store_step(struct store *store);
void sqlite_store_fold(struct store *store);
/* Without threads: forgets everything as a power cut would: no flush, no sync, memory freed.
 * Commits under way are dropped without an answer. */
void sqlite_store_crash(struct store *store);

/* What a trial found of large bodies. */
struct sqlite_store_trial {
    struct buf *report; /* a line for each body whose file is missing or damaged */
    uint64_t damaged;   /* so many */
    uint64_t orphans;   /* files that no message names: a start removes them */
};

/* Recovers as sqlite_store_open does, and closes again without a fold: whether a server would
 * start. The caller has the lock, and no connection is open. */
enum status sqlite_store_try(const struct sqlite_store_options *options,
                             struct sqlite_store_trial *trial, struct err *err);

/* What `impound doctor` prints: checksums, counters against rows, positions. One line a finding to
 * `report`; returns CORRUPT when something is wrong, and in *err what can be done. With
 * `repair`, salvages every whole record, also into a file that is gone. */
enum status sqlite_store_doctor(const struct sqlite_store_options *options, bool repair,
                                struct buf *report, struct err *err);

#endif
