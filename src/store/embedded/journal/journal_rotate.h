/* journal_rotate: moves the journal to its next segment, and holds the state of the writer. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_ROTATE_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_ROTATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/embedded/journal/journal_table.h"

/* The end of the groups of the journal: a position, and the segment that it belongs to. */
struct journal_mark {
    uint64_t segment;
    uint64_t end;
};

struct journal_files {
    struct journal_options options;
    char *dir;
    pthread_mutex_t lock; /* guards the table and its segments */
    struct journal_table table;
    struct journal_segment *current; /* NULL before the first append */
    struct disk_file *spare;         /* open file of the segment being prepared, or NULL */
    /* Open file for the next spare, or NULL; guarded by the lock. */
    struct disk_file *fresh;
    /* After a failure the contents of the spare are unknown: it is not reused. */
    bool spoiled;
    bool sealed;                /* no more groups are appended to `current` */
    bool lost;                  /* unsynced groups were given up: the next sync must fail */
    struct journal_mark tail;   /* after the last group that was appended */
    struct journal_mark synced; /* after the last group that journal_sync made durable */
    /* Everything before it is durable, even if journal_sync was not called for it. */
    uint64_t durable_end;
    uint64_t next_sequence;
    uint8_t *group; /* buffer for the group being built */
    size_t group_cap;
    /* The end that a fold may store: a power failure cannot remove anything before it. */
    _Atomic uint64_t end;
    _Atomic uint64_t bytes;
};

/* Removes folded segments beyond those that are kept for reuse. */
void journal_rotate_trim(struct journal_files *journal);
/* Makes `current` a segment that has room for `size` more bytes. FULL, IO: it could not be made. */
enum status journal_rotate_for(struct journal_files *journal, uint64_t size, struct err *err);
/* After a failed write: makes the next segment at once, so that bytes after the tail are never
 * replayed. If that fails too, it is repeated before the next append. */
void journal_rotate_away(struct journal_files *journal);
/* After a failed sync: as journal_rotate_away, for every group that is not synced. */
void journal_rotate_back(struct journal_files *journal);
void journal_rotate_set_tail(struct journal_files *journal, struct journal_mark tail);
void journal_rotate_count(struct journal_files *journal); /* recomputes the bytes in use */

#endif
