#include "engine/rate.h"

#include <stddef.h>

/* Empties the slots of the seconds that have passed since the last call. A view may have read the
 * clock after the turn that now counts did, so `now` may lie a little back. */
static void advance(struct rate *rate, struct mono now) {
    int64_t second = now.ms / 1000;
    int64_t passed = second - rate->second;
    if (passed <= 0)
        return;
    for (int64_t i = 0; i < passed && i < RATE_SECONDS; i++)
        rate->slots[(second - i) % RATE_SECONDS] = 0;
    rate->second = second;
}

void rate_count(struct rate *rate, struct mono now) {
    advance(rate, now);
    rate->slots[rate->second % RATE_SECONDS]++;
}

uint64_t rate_total(struct rate *rate, struct mono now) {
    uint64_t total = 0;
    advance(rate, now);
    for (size_t i = 0; i < RATE_SECONDS; i++)
        total += rate->slots[i];
    return total;
}
