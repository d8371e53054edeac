/* leaps: how far the wall clock was set ahead while we ran. What is stored carries wall times, so
 * the age of what failed before such a leap would be a leap too long, and `max_age` would bury what
 * is young (SEMANTICS 2.6). Ages are told without the leaps that lie inside them. */
#ifndef ENGINE_LEAPS_H
#define ENGINE_LEAPS_H

#include <stddef.h>

#include "base/instant.h"

enum { LEAPS_MAX = 8, LEAPS_SHORTEST_MS = 1000 /* less is a clock that is being adjusted */ };

struct leap {
    struct wall from; /* the last that was read before it */
    int64_t ms;
};

/* Zeroed is empty. */
struct leaps {
    struct instant last;
    struct leap of[LEAPS_MAX]; /* in order */
    size_t count;
};

/* Once a turn. A clock that is set back takes back the leaps before. */
void leaps_note(struct leaps *leaps, struct instant now);
/* What the wall clock would show had it run evenly since `since`. */
struct wall leaps_evenly(const struct leaps *leaps, struct wall since, struct wall now);

#endif
