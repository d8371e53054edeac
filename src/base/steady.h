/* steady: the wall clock as far as it can be believed.
 *
 * Retention, idempotency keys and kept answers compare stored wall times with the time of now. A
 * wall clock that is set ahead while the process runs must not make them look older than they are:
 * what expires is gone for good. The steady wall time is the wall time at the start plus the
 * monotonic time since, or the wall time itself where that is less. It never runs ahead of either
 * clock, so a leap delays an expiry and never brings one about. What the wall
 * clock had been set ahead before the start is left out too where it is known (clock_began). */
#ifndef BASE_STEADY_H
#define BASE_STEADY_H

#include "base/instant.h"

static inline struct wall steady_wall(struct instant began, struct instant now) {
    int64_t even_ms = began.wall.ms + (now.mono.ms - began.mono.ms);
    return began.wall.ms != WALL_NEVER.ms && even_ms < now.wall.ms ? (struct wall){even_ms}
                                                                   : now.wall;
}

#endif
