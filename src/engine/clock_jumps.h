/* jumps: how far the wall clock was set ahead while we ran. What is stored carries wall times, so
 * the age of what failed before such a jump would be a jump too long, and `max_age` would bury what
 * is young (SEMANTICS 2.6). Ages are told without the jumps that lie inside them. */
#ifndef ENGINE_CLOCK_JUMPS_H
#define ENGINE_CLOCK_JUMPS_H

#include <stddef.h>

#include "base/instant.h"

enum {
    CLOCK_JUMPS_MAX = 8,
    CLOCK_JUMPS_SHORTEST_MS = 1000 /* less is a clock that is being adjusted */
};

struct clock_jump {
    struct wall from; /* the last that was read before it */
    int64_t ms;
};

/* Zeroed is empty. */
struct clock_jumps {
    struct instant last;
    struct clock_jump of[CLOCK_JUMPS_MAX]; /* in order */
    size_t count;
};

/* Once a turn. A clock that is set back takes back the jumps before. */
void clock_jumps_note(struct clock_jumps *jumps, struct instant now);
/* What the wall clock would show had it run evenly since `since`. */
struct wall clock_jumps_evenly(const struct clock_jumps *jumps, struct wall since, struct wall now);

#endif
