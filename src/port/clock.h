/* clock: the only door to time. The engine reads it once per turn and passes the instant down. */
#ifndef PORT_CLOCK_H
#define PORT_CLOCK_H

#include "base/instant.h"

struct clock {
    /* MUST give a mono that never goes back; the wall may jump either way. */
    struct instant (*now)(struct clock *clock);
};

static inline struct instant clock_now(struct clock *clock) {
    return clock->now(clock);
}

/* The machine's own clocks: CLOCK_REALTIME and CLOCK_MONOTONIC. Implemented in app. */
extern struct clock clock_system;

#endif
