/* clock: the only door to time. The engine reads it once per turn and passes the instant down. */
#ifndef PORT_CLOCK_H
#define PORT_CLOCK_H

#include "base/instant.h"

struct clock {
    /* MUST give a mono that never goes back; the wall may jump either way. */
    struct instant (*now)(struct clock *clock);
    /* How far the wall clock had been set ahead when the process began, as far as that is known. */
    int64_t ahead_ms;
};

static inline struct instant clock_now(struct clock *clock) {
    return clock->now(clock);
}

/* Now, for steady_wall (base/steady.h). */
static inline struct instant clock_began(struct clock *clock) {
    struct instant now = clock_now(clock);
    now.wall.ms -= clock->ahead_ms;
    return now;
}

/* The machine's own clocks: CLOCK_REALTIME and CLOCK_MONOTONIC. Implemented in app. */
extern struct clock clock_system;

#endif
