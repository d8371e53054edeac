/* paged_queue: the waiting messages of one queue and one kind. Those beyond a horizon are parked:
 * they are counted, but stay in memory only until the fold has written them to the SQLite file. The
 * store with that file loads them again before they can be taken.
 *
 *   first to be taken ──────── horizon ──────────── last
 *    in the lists in memory       parked: in memory until folded, then in the file only
 *
 * The order is that of the file: due time by the wall clock (0: none), then seq. A waiting message
 * that is not in memory is always parked. */
#ifndef STORE_TABLES_PAGED_QUEUE_H
#define STORE_TABLES_PAGED_QUEUE_H

#include "store/tables/ready/entry.h"

enum paged_queue_kind {
    PAGED_QUEUE_READY,   /* queued, with no due time */
    PAGED_QUEUE_DELAYED, /* queued, with a due time */
    PAGED_QUEUE_RETRY,   /* pending_retry */
    PAGED_QUEUE_COUNT
};

struct paged_queue_mark {
    int64_t due_ms;
    uint64_t seq;
};

struct paged_queue {
    bool open;                    /* some messages are parked: */
    struct paged_queue_mark from; /* those at or after this position */
    struct mono next;             /* the time of the next load of parked messages, at the latest */
    uint64_t count;               /* number of parked messages */
    struct list here;             /* parked entries that are still in memory */
    size_t again;                 /* entries that must be in memory before more are parked */
};

/* The limits for all paged queues of a store together. */
struct paged_queue_bound {
    size_t count;
    size_t most;  /* 0: nothing is ever parked */
    size_t least; /* a paged queue with fewer entries is not evicted from */
    bool shed;    /* an entry in memory was parked, and may be dropped */
};

void paged_queue_init(struct paged_queue *lane);
/* PAGED_QUEUE_COUNT: in no paged queue, and never parked. */
enum paged_queue_kind paged_queue_of(enum state state, struct wall due);
enum paged_queue_kind paged_queue_of_entry(const struct entry *entry);
struct paged_queue_mark paged_queue_mark(const struct entry *entry);
bool paged_queue_is_before(struct paged_queue_mark a, struct paged_queue_mark b);
/* True if the entry belongs beyond the horizon. */
bool paged_queue_parks(const struct paged_queue *lane, const struct entry *entry);
void paged_queue_park(struct paged_queue *lane, struct entry *entry, struct mono due);
/* The entry is not parked any more. */
void paged_queue_unpark(struct paged_queue *lane, struct entry *entry);
/* Decrements the count for a parked message that only the file has. */
void paged_queue_count_down(struct paged_queue *lane);
/* Removes a parked entry from memory; the message stays parked. */
void paged_queue_let_go(struct entry *entry);
/* When the store is opened: `count` messages are in the file, and none in memory. */
void paged_queue_open(struct paged_queue *lane, uint64_t count);

#endif
