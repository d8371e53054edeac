/* lane: messages of one queue that wait in one way, and the horizon beyond which they are parked:
 * counted, but in memory no longer than the file behind needs to learn of them. Whoever has that
 * file brings them back before their turn.
 *
 *   first in turn ──────── horizon ──────────── last
 *    in the lists of memory   parked: here, until the file has them; then in the file alone
 *
 * The order is that of the file: due time by the wall (0: none), then number. What waits and is not
 * in memory is parked, always. */
#ifndef STORE_LANE_H
#define STORE_LANE_H

#include "store/entry.h"

enum lane_kind {
    LANE_READY,   /* queued, and never had to wait for a time */
    LANE_DELAYED, /* queued, not before a time */
    LANE_RETRY,   /* pending_retry */
    LANE_COUNT
};

struct lane_mark {
    int64_t due_ms;
    uint64_t seq;
};

struct lane {
    bool open;             /* something is parked: */
    struct lane_mark from; /* what is not before this */
    struct mono next;      /* it is to be looked at then, or earlier */
    uint64_t count;        /* of it */
    struct list here;      /* those of it that are in memory still */
    size_t again;          /* as many wait in memory before more is parked */
};

/* How much all lanes of a store have in memory. */
struct lane_bound {
    size_t count;
    size_t most;  /* 0: nothing is ever parked */
    size_t least; /* a lane with fewer is left alone */
    bool shed;    /* something was parked that was in memory: it may be dropped */
};

void lane_init(struct lane *lane);
/* LANE_COUNT: in none, and never parked. */
enum lane_kind lane_of(enum state state, struct wall due);
enum lane_kind lane_of_entry(const struct entry *entry);
struct lane_mark lane_mark(const struct entry *entry);
bool lane_is_before(struct lane_mark a, struct lane_mark b);
/* True when it belongs behind the horizon. */
bool lane_parks(const struct lane *lane, const struct entry *entry);
void lane_park(struct lane *lane, struct entry *entry, struct mono due);
/* It is not parked any more. */
void lane_unpark(struct lane *lane, struct entry *entry);
/* One less of those that only the file has. */
void lane_count_down(struct lane *lane);
/* A parked one leaves memory, and stays parked. */
void lane_let_go(struct entry *entry);
/* At start: so many are in the file, and none in memory. */
void lane_open(struct lane *lane, uint64_t count);

#endif
