/* offset_tracker: which records of one partition are settled, and up to which offset it may be
 * committed.
 *
 * Kafka keeps one committed offset per partition: everything below it is done. Messages are settled
 * in any order, so each record that was read has an entry here until all before it are settled:
 *
 *      next commit ─▶ [held] [settled] [settled] [held] [settled]  ◀─ read up to here
 *
 * A slow one at the head holds the commit and nothing else: records behind it are read and settled
 * until there are OFFSET_TRACKER_MAX entries.
 *
 * A partition may be taken away and come back, and is then read again from what was committed. What
 * was held or settled meanwhile is still known (`past`) and not given twice. A record counts as the
 * same if its offset and its print (a hash of its contents) are: after a topic was deleted and made
 * anew, other records stand at those offsets. */
#ifndef BROKER_OFFSET_TRACKER_H
#define BROKER_OFFSET_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OFFSET_TRACKER_MAX = 128 * 1024 };

enum offset_state {
    OFFSET_HELD,
    OFFSET_SETTLED,
    OFFSET_DROPPED, /* not in flight: it is given when it is read again */
};

struct offset_entry {
    int64_t offset;
    uint64_t print;
    enum offset_state state;
};

struct offset_tracker {
    struct offset_entry *lines; /* read since it was rewound, by offset */
    size_t first, count, cap;
    struct offset_entry *past; /* known from before that and not read again yet, by offset */
    size_t past_first, past_count;
    int64_t next; /* behind the last record that was read; -1: none was */
};

void offset_tracker_init(struct offset_tracker *tracker);
void offset_tracker_free(struct offset_tracker *tracker);
/* The partition was taken away: if it comes back, it is read from what was last committed. */
void offset_tracker_rewind(struct offset_tracker *tracker);
/* How many more may be read. None: it is full until the head is settled. */
size_t offset_tracker_room(const struct offset_tracker *tracker);
bool offset_tracker_full(const struct offset_tracker *tracker);
/* A record was read. True: it is to be given, and is held from now on; false: it is held or settled
 * already. MUST NOT be full. */
bool offset_tracker_read(struct offset_tracker *tracker, int64_t offset, uint64_t print);
/* Records that are not known (any more) are ignored. */
void offset_tracker_settle(struct offset_tracker *tracker, int64_t offset, uint64_t print);
void offset_tracker_drop(struct offset_tracker *tracker, int64_t offset, uint64_t print);
/* Everything below is settled; -1: nothing was read since it was rewound. */
int64_t offset_tracker_commit(const struct offset_tracker *tracker);

#endif
