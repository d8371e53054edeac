#include "engine/judge/clock_jumps.h"

#include <string.h>

/* When the table is full, the two oldest jumps are merged: a message that failed between them looks
 * younger than it is. */
static void add(struct clock_jumps *jumps, struct clock_jump jump) {
    if (jumps->count == CLOCK_JUMPS_MAX) {
        jumps->of[1].ms += jumps->of[0].ms;
        memmove(jumps->of, jumps->of + 1, (CLOCK_JUMPS_MAX - 1) * sizeof jumps->of[0]);
        jumps->count--;
    }
    jumps->of[jumps->count++] = jump;
}

static void take_back(struct clock_jumps *jumps, int64_t ms) {
    while (ms > 0 && jumps->count > 0) {
        struct clock_jump *latest = &jumps->of[jumps->count - 1];
        int64_t part = ms < latest->ms ? ms : latest->ms;
        ms -= part;
        latest->ms -= part;
        if (latest->ms == 0)
            jumps->count--;
    }
}

void clock_jumps_note(struct clock_jumps *jumps, struct instant now) {
    struct instant last = jumps->last;
    int64_t ahead_ms = (now.wall.ms - last.wall.ms) - (now.mono.ms - last.mono.ms);
    jumps->last = now;
    if (last.wall.ms == WALL_NEVER.ms)
        return;
    if (ahead_ms >= CLOCK_JUMPS_SHORTEST_MS)
        add(jumps, (struct clock_jump){last.wall, ahead_ms});
    else if (ahead_ms <= -CLOCK_JUMPS_SHORTEST_MS)
        take_back(jumps, -ahead_ms);
}

struct wall clock_jumps_evenly(const struct clock_jumps *jumps, struct wall since,
                               struct wall now) {
    for (size_t i = 0; i < jumps->count; i++) {
        if (since.ms <= jumps->of[i].from.ms)
            now.ms -= jumps->of[i].ms;
    }
    return now;
}
