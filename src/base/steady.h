/* steady: a wall clock that never runs ahead.
 *
 * Retention, idempotency keys and kept answers compare stored wall times with the present. A wall
 * clock that is set ahead while the process runs must not expire them early: expiry is
 * irreversible. The steady wall time is the wall time at the start plus the monotonic time since,
 * or the wall time itself if that is less. It never runs ahead of either clock, so a clock jump
 * delays an expiry and never causes one. A jump before the start is corrected, too, where it is
 * known (clock_began). */
#ifndef BASE_STEADY_H
#define BASE_STEADY_H

#include "base/instant.h"

static inline struct wall steady_wall(struct instant began, struct instant now) {
    int64_t even_ms = began.wall.ms + (now.mono.ms - began.mono.ms);
    return began.wall.ms != WALL_NEVER.ms && even_ms < now.wall.ms ? (struct wall){even_ms}
                                                                   : now.wall;
}

#endif
