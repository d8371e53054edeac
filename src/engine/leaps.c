#include "engine/leaps.h"

#include <string.h>

/* With no room, the two oldest become one: what failed between them looks younger than it is. */
static void add(struct leaps *leaps, struct leap leap) {
    if (leaps->count == LEAPS_MAX) {
        leaps->of[1].ms += leaps->of[0].ms;
        memmove(leaps->of, leaps->of + 1, (LEAPS_MAX - 1) * sizeof leaps->of[0]);
        leaps->count--;
    }
    leaps->of[leaps->count++] = leap;
}

static void take_back(struct leaps *leaps, int64_t ms) {
    while (ms > 0 && leaps->count > 0) {
        struct leap *latest = &leaps->of[leaps->count - 1];
        int64_t part = ms < latest->ms ? ms : latest->ms;
        ms -= part;
        latest->ms -= part;
        if (latest->ms == 0)
            leaps->count--;
    }
}

void leaps_note(struct leaps *leaps, struct instant now) {
    struct instant last = leaps->last;
    int64_t ahead_ms = (now.wall.ms - last.wall.ms) - (now.mono.ms - last.mono.ms);
    leaps->last = now;
    if (last.wall.ms == WALL_NEVER.ms)
        return;
    if (ahead_ms >= LEAPS_SHORTEST_MS)
        add(leaps, (struct leap){last.wall, ahead_ms});
    else if (ahead_ms <= -LEAPS_SHORTEST_MS)
        take_back(leaps, -ahead_ms);
}

struct wall leaps_evenly(const struct leaps *leaps, struct wall since, struct wall now) {
    for (size_t i = 0; i < leaps->count; i++) {
        if (since.ms <= leaps->of[i].from.ms)
            now.ms -= leaps->of[i].ms;
    }
    return now;
}
