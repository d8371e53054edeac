/* clock: the interface for reading the time. The engine reads it once per turn and passes the
 * instant down. */
#ifndef PORT_CLOCK_H
#define PORT_CLOCK_H

#include "base/instant.h"

struct clock {
    /* MUST return a mono that never goes back; the wall clock may jump either way. */
    struct instant (*now)(struct clock *clock);
    /* By how much the wall clock was set ahead when the process started, as far as that is known.
     */
    int64_t ahead_ms;
};

static inline struct instant clock_now(struct clock *clock) {
    return clock->now(clock);
}

/* The current time, for steady_wall (base/steady.h). */
static inline struct instant clock_began(struct clock *clock) {
    struct instant now = clock_now(clock);
    now.wall.ms -= clock->ahead_ms;
    return now;
}

/* The system clocks: CLOCK_REALTIME and CLOCK_MONOTONIC. Implemented in store/clock_system.c. */
extern struct clock clock_system;

#endif
