#include "port/clock.h"

#include <time.h>

static int64_t read_ms(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct instant now(struct clock *clock) {
    (void)clock;
    return (struct instant){{read_ms(CLOCK_REALTIME)}, {read_ms(CLOCK_MONOTONIC)}};
}

struct clock clock_system = {.now = now};
