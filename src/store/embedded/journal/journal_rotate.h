/* journal_rotate: how the journal moves on to its next segment, and what the writer knows. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_ROTATE_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_ROTATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/embedded/journal/journal_table.h"

/* Where the groups of the journal end: a position, and the segment that it belongs to. */
struct journal_mark {
    uint64_t segment;
    uint64_t end;
};

struct journal_files {
    struct journal_options options;
    char *dir;
    pthread_mutex_t lock; /* over the table and what stands in its segments */
    struct journal_table table;
    struct journal_segment *current; /* NULL before the first append of all */
    struct disk_file *spare;         /* open file of the segment in the making, or NULL */
    struct disk_file *fresh;         /* open file for a spare to come, or NULL; under the lock */
    bool spoiled;                    /* a failure left the spare in doubt: it is not used again */
    bool sealed;                     /* nothing more goes into `current` */
    bool lost;                  /* unsynced groups were given up: the next sync has to say so */
    struct journal_mark tail;   /* behind the last group that was appended */
    struct journal_mark synced; /* behind the last one that journal_sync vouched for */
    uint64_t durable_end; /* what stands before is safe, though journal_sync may not have said so */
    uint64_t next_sequence;
    uint8_t *group; /* under construction */
    size_t group_cap;
    _Atomic uint64_t end; /* safe to remember: nothing that it counts on can go with the power */
    _Atomic uint64_t bytes;
};

/* Removes folded segments beyond those that are kept to be used again. */
void journal_rotate_trim(struct journal_files *journal);
/* Makes `current` a segment that takes `size` more bytes. FULL, IO: it could not be made. */
enum status journal_rotate_for(struct journal_files *journal, uint64_t size, struct err *err);
/* After a failed write: what it left behind the tail is fenced off, by making the next segment at
 * once. When that fails too, it is tried again before the next append. */
void journal_rotate_away(struct journal_files *journal);
/* After a failed sync: so is every group that journal_sync has not vouched for. */
void journal_rotate_back(struct journal_files *journal);
void journal_rotate_set_tail(struct journal_files *journal, struct journal_mark tail);
void journal_rotate_count(struct journal_files *journal); /* the bytes in use, anew */

#endif
