/* ready_queues: the messages of one queue that wait or are taken, in the order in which they may be
 * taken.
 *
 *   queued          →  ready (a list, oldest first)  or  delayed (a heap by due time)
 *   pending_retry   →  retry (a heap by due time)
 *   replaying       →  retry
 *   taken           →  the taken list, until a change of it is durable or it is given back
 *   judged dead, and its DLQ is full  →  the list of that DLQ in `rooms`
 *   leased          →  the taken list; after a restart, the leased list
 *   far from due    →  parked (store/tables/ready/paged_queue.h), and perhaps not in memory at all
 *
 * An entry is in exactly one of them while it waits or is taken, and in none if it is a letter that
 * waits for review. */
#ifndef STORE_TABLES_READY_QUEUES_H
#define STORE_TABLES_READY_QUEUES_H

#include "port/store.h"
#include "store/tables/ready/paged_queue.h"

/* The messages that wait for room in one DLQ, in the order in which they were judged dead. */
struct ready_queues_room {
    struct ready_queues_room *next;
    const struct name *dlq;
    struct list entries;
    size_t count;
};

struct ready_queues {
    struct list ready, taken, leased;
    size_t ready_count, taken_count, leased_count;
    struct heap delayed, retry;
    struct ready_queues_room *rooms; /* one for each DLQ that was ever full */
    size_t room_count;               /* messages in all of them */
    /* In no list: other messages of their key come first (store/tables/ready/key_order.h). */
    uint64_t blocked_queued, blocked_retry;
    uint64_t turn; /* breaks ties in the heaps: first in, first out */
    struct paged_queue lanes[PAGED_QUEUE_COUNT];
    /* Shared by all queues; NULL: no message of this queue is parked. */
    struct paged_queue_bound *bound;
};

void ready_queues_init(struct ready_queues *waiting, struct paged_queue_bound *bound);
void ready_queues_free(struct ready_queues *waiting); /* not the entries */
/* From now on no message of the queue is parked. The store must load those that are. */
void ready_queues_unbind(struct ready_queues *waiting);
/* True if a message in this state waits to be taken. */
bool ready_queues_has_place(enum state state);
/* Adds the entry to the list or heap that its facts determine. `now` NULL: the time is not known,
 * so the due time is computed at the next take. */
void ready_queues_add(struct ready_queues *waiting, struct entry *entry, const struct instant *now);
/* Removes the entry from its list or heap; no effect if it is in none. */
void ready_queues_remove(struct ready_queues *waiting, struct entry *entry);
/* True if the entry's body may be read in one take with the `taken` entries before it, whose bodies
 * have *bytes in total; adds its size to *bytes. */
bool ready_queues_fits(const struct entry *entry, size_t taken, uint64_t *bytes);
/* Moves up to `max` entries to the taken list, as take in port/store.h describes. */
size_t ready_queues_take(struct ready_queues *waiting, enum store_take which, struct instant now,
                         struct entry **out, size_t max);
/* Moves this entry to the taken list; false if it does not wait. */
bool ready_queues_take_one(struct ready_queues *waiting, struct entry *entry);
/* Moves up to `max` entries that wait for room in the DLQ to the taken list. */
size_t ready_queues_take_for_room(struct ready_queues *waiting, const struct name *dlq,
                                  struct entry **out, size_t max);
/* The DLQs for which messages wait for room. */
size_t ready_queues_rooms(const struct ready_queues *waiting, struct arena *arena,
                          struct store_count **out);
/* Moves a blocked entry, which is in no list, to the taken list. */
void ready_queues_take_blocked(struct ready_queues *waiting, struct entry *entry);
/* An attempt of a taken entry has ended. It becomes the most recently attempted one, for
 * TAKE_DUE_LONGEST. */
void ready_queues_tried(struct ready_queues *waiting, struct entry *entry);
/* Moves the entry from the taken list back to the end of the list in which it waited, not before
 * `due`. A message that waited for room waits for room again. */
void ready_queues_give_back(struct ready_queues *waiting, struct entry *entry, struct mono due);
/* The number of entries of a paged queue that wait in memory. */
size_t ready_queues_in_lane(const struct ready_queues *waiting, enum paged_queue_kind kind);
/* The time at which a message with this due time may be taken. */
struct mono ready_queues_due(struct wall due, int64_t delay_ms, struct instant now);
struct mono ready_queues_next(const struct ready_queues *waiting, enum store_take which);
void ready_queues_counts(const struct ready_queues *waiting, struct store_queue_counts *out);

#endif
