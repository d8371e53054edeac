/* lane: messages of one queue that wait in one way, and the horizon beyond which they are parked:
 * counted, but in memory no longer than the file behind needs to learn of them. Whoever has that
 * file brings them back before their turn.
 *
 *   first in turn ──────── horizon ──────────── last
 *    in the lists of memory   parked: here, until the file has them; then in the file alone
 *
 * The order is that of the file: due time by the wall (0: none), then number. What waits and is not
 * in memory is parked, always. */
#ifndef STORE_TABLES_PAGED_QUEUE_H
#define STORE_TABLES_PAGED_QUEUE_H

#include "store/tables/entry.h"

enum paged_queue_kind {
    PAGED_QUEUE_READY,   /* queued, and never had to wait for a time */
    PAGED_QUEUE_DELAYED, /* queued, not before a time */
    PAGED_QUEUE_RETRY,   /* pending_retry */
    PAGED_QUEUE_COUNT
};

struct paged_queue_mark {
    int64_t due_ms;
    uint64_t seq;
};

struct paged_queue {
    bool open;                    /* something is parked: */
    struct paged_queue_mark from; /* what is not before this */
    struct mono next;             /* it is to be looked at then, or earlier */
    uint64_t count;               /* of it */
    struct list here;             /* those of it that are in memory still */
    size_t again;                 /* as many wait in memory before more is parked */
};

/* How much all lanes of a store have in memory. */
struct paged_queue_bound {
    size_t count;
    size_t most;  /* 0: nothing is ever parked */
    size_t least; /* a lane with fewer is left alone */
    bool shed;    /* something was parked that was in memory: it may be dropped */
};

void paged_queue_init(struct paged_queue *lane);
/* PAGED_QUEUE_COUNT: in none, and never parked. */
enum paged_queue_kind paged_queue_of(enum state state, struct wall due);
enum paged_queue_kind paged_queue_of_entry(const struct entry *entry);
struct paged_queue_mark paged_queue_mark(const struct entry *entry);
bool paged_queue_is_before(struct paged_queue_mark a, struct paged_queue_mark b);
/* True when it belongs behind the horizon. */
bool paged_queue_parks(const struct paged_queue *lane, const struct entry *entry);
void paged_queue_park(struct paged_queue *lane, struct entry *entry, struct mono due);
/* It is not parked any more. */
void paged_queue_unpark(struct paged_queue *lane, struct entry *entry);
/* One less of those that only the file has. */
void paged_queue_count_down(struct paged_queue *lane);
/* A parked one leaves memory, and stays parked. */
void paged_queue_let_go(struct entry *entry);
/* At start: so many are in the file, and none in memory. */
void paged_queue_open(struct paged_queue *lane, uint64_t count);

#endif
