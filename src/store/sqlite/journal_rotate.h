/* journal_rotate: how the journal moves on to its next segment, and what the writer knows. */
#ifndef STORE_JOURNAL_ROTATE_H
#define STORE_JOURNAL_ROTATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/sqlite/journal_table.h"

struct journal {
    struct journal_options options;
    char *dir;
    pthread_mutex_t lock; /* over the table and what stands in its segments */
    struct journal_table table;
    struct journal_segment *current; /* NULL before the first append of all */
    struct disk_file *spare;         /* open file of the segment in the making, or NULL */
    bool sealed;                     /* nothing more goes into `current` */
    bool lost; /* unsynced groups were given up: the next sync has to say so */
    uint64_t durable_end;
    uint64_t next_sequence;
    uint8_t *group; /* under construction */
    size_t group_cap;
    _Atomic uint64_t end;
    _Atomic uint64_t bytes;
};

/* Makes `current` a segment that takes `size` more bytes. FULL, IO: it could not be made. */
enum status journal_rotate_for(struct journal *journal, uint64_t size, struct err *err);
/* After a failure: what stands at `end` and behind is given up, and the next segment is made at
 * once to say so. When that fails too, it is tried again before the next append. */
void journal_rotate_away(struct journal *journal, uint64_t end);
void journal_rotate_set_end(struct journal *journal, uint64_t end);
void journal_rotate_count(struct journal *journal); /* the bytes in use, anew */

#endif
