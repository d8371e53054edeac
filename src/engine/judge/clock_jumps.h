/* clock_jumps: how far the wall clock was set ahead while the process ran. Stored times are wall
 * times, so a message that failed before such a jump would seem older by the jump, and `max_age`
 * would dead-letter young messages (SEMANTICS 2.6). Ages are computed without the jumps that lie
 * inside them. */
#ifndef ENGINE_CLOCK_JUMPS_H
#define ENGINE_CLOCK_JUMPS_H

#include <stddef.h>

#include "base/instant.h"

enum {
    CLOCK_JUMPS_MAX = 8,
    CLOCK_JUMPS_SHORTEST_MS = 1000 /* smaller steps are a clock that is being slewed */
};

struct clock_jump {
    struct wall from; /* the last wall time that was read before the jump */
    int64_t ms;
};

/* Zeroed is empty. */
struct clock_jumps {
    struct instant last;
    struct clock_jump of[CLOCK_JUMPS_MAX]; /* in order */
    size_t count;
};

/* To be called once a turn. A clock that is set back cancels earlier jumps. */
void clock_jumps_note(struct clock_jumps *jumps, struct instant now);
/* The wall time that the clock would show had it run evenly since `since`. */
struct wall clock_jumps_evenly(const struct clock_jumps *jumps, struct wall since, struct wall now);

#endif
