/* rate: how often something happened in the last minute. */
#ifndef ENGINE_RATE_H
#define ENGINE_RATE_H

#include "base/instant.h"

enum { RATE_SECONDS = 60 };

/* Zeroed is ready for use. */
struct rate {
    uint32_t slots[RATE_SECONDS]; /* one for each second, used round and round */
    int64_t second;               /* the newest one that a slot stands for */
};

void rate_count(struct rate *rate, struct mono now);
/* Of the second that has begun and the 59 before it. */
uint64_t rate_total(struct rate *rate, struct mono now);

#endif
