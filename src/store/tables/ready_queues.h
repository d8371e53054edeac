/* waiting: what one queue has to hand over, in the order in which it may be taken.
 *
 *   queued          →  ready (a list, oldest first)  or  delayed (a heap by due time)
 *   pending_retry   →  retry (a heap by due time)
 *   replaying       →  retry
 *   taken           →  the taken list, until a change of it is durable or it is given back
 *   judged dead, and its DLQ is full  →  the list of that DLQ in `room`
 *   leased          →  taken; or, when we died since, the leased list
 *   far from due    →  parked (store/tables/paged_queue.h), and perhaps not in memory at all
 *
 * An entry is in exactly one of them while it waits or is taken, and in none when it is a letter
 * that waits for people. */
#ifndef STORE_TABLES_READY_QUEUES_H
#define STORE_TABLES_READY_QUEUES_H

#include "port/store.h"
#include "store/tables/paged_queue.h"

/* The messages that wait for room in one DLQ, oldest judgement first. */
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
    struct ready_queues_room *rooms; /* one for each DLQ that ever was full */
    size_t room_count;               /* messages in all of them */
    uint64_t blocked_queued,
        blocked_retry; /* in no list: it is not their turn (store/tables/key_order.h) */
    uint64_t turn;     /* breaks ties in the heaps: first come, first taken */
    struct paged_queue lanes[PAGED_QUEUE_COUNT];
    struct paged_queue_bound *bound; /* of all queues; NULL: nothing of this one is parked */
};

void ready_queues_init(struct ready_queues *waiting, struct paged_queue_bound *bound);
void ready_queues_free(struct ready_queues *waiting); /* not the entries */
/* From now on nothing of it is parked. What is, is to be brought back. */
void ready_queues_unbind(struct ready_queues *waiting);
/* True when a message in this state waits to be handed over. */
bool ready_queues_has_place(enum state state);
/* Puts the entry where its facts say. `now` NULL: the time is not known, so its due time is
 * reckoned when it is first looked at by a take. */
void ready_queues_add(struct ready_queues *waiting, struct entry *entry, const struct instant *now);
/* From wherever it is; harmless when it is nowhere. */
void ready_queues_remove(struct ready_queues *waiting, struct entry *entry);
/* Whether the entry's body is read in one take with the `taken` ones before it, whose bodies have
 * *bytes; adds its own. */
bool ready_queues_fits(const struct entry *entry, size_t taken, uint64_t *bytes);
/* Moves up to `max` entries to the taken list, as store_vtable's take says. */
size_t ready_queues_take(struct ready_queues *waiting, enum store_take which, struct instant now,
                         struct entry **out, size_t max);
/* This very one, to the taken list; false when it does not wait. */
bool ready_queues_take_one(struct ready_queues *waiting, struct entry *entry);
/* Up to `max` of those that wait for room in the DLQ, to the taken list. */
size_t ready_queues_take_for_room(struct ready_queues *waiting, const struct name *dlq,
                                  struct entry **out, size_t max);
/* The DLQs that some wait for. */
size_t ready_queues_rooms(const struct ready_queues *waiting, struct arena *arena,
                          struct store_count **out);
/* One that is in no list, to the taken list. */
void ready_queues_take_blocked(struct ready_queues *waiting, struct entry *entry);
/* A hand-over of a taken entry has ended: others that wait are now longer not handed over. */
void ready_queues_tried(struct ready_queues *waiting, struct entry *entry);
/* From the taken list back behind what waits, not before `due`. What waits for room waits again. */
void ready_queues_give_back(struct ready_queues *waiting, struct entry *entry, struct mono due);
/* How many of a lane wait in memory. */
size_t ready_queues_in_lane(const struct ready_queues *waiting, enum paged_queue_kind kind);
/* When what has this due time may be taken. */
struct mono ready_queues_due(struct wall due, int64_t delay_ms, struct instant now);
struct mono ready_queues_next(const struct ready_queues *waiting, enum store_take which);
void ready_queues_counts(const struct ready_queues *waiting, struct store_queue_counts *out);

#endif
