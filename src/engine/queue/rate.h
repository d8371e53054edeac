/* rate: how often something happened, over the last minute by the second and the last hour by the
 * minute. */
#ifndef ENGINE_RATE_H
#define ENGINE_RATE_H

#include "base/instant.h"

enum { RATE_SLOTS = 60 };

/* Zeroed is empty. */
struct rate_ring {
    uint32_t slots[RATE_SLOTS];
    int64_t newest; /* number of the newest slot */
};

struct rate {
    struct rate_ring seconds, minutes;
};

void rate_count(struct rate *rate, struct mono now);
/* Per minute, rounded, over a window of up to an hour: one minute is the last 60 seconds; longer
 * windows are whole minutes including the present one. */
uint64_t rate_per_minute(struct rate *rate, struct mono now, int64_t window_ms);

#endif
