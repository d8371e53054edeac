#include "engine/queue/rate.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS };

/* Empties the slots that are reused. A view may have read the clock after the present turn did, so
 * `newest` may be slightly in the past. */
static void advance(struct rate_ring *ring, int64_t newest) {
    int64_t passed = newest - ring->newest;
    if (passed <= 0)
        return;
    for (int64_t i = 0; i < passed && i < RATE_SLOTS; i++)
        ring->slots[(newest - i) % RATE_SLOTS] = 0;
    ring->newest = newest;
}

static void count(struct rate_ring *ring, int64_t newest) {
    advance(ring, newest);
    ring->slots[ring->newest % RATE_SLOTS]++;
}

void rate_count(struct rate *rate, struct mono now) {
    count(&rate->seconds, now.ms / SECOND_MS);
    count(&rate->minutes, now.ms / MINUTE_MS);
}

static uint64_t total(struct rate_ring *ring, int64_t newest, int64_t slots) {
    uint64_t sum = 0;
    advance(ring, newest);
    for (int64_t i = 0; i < slots && i < RATE_SLOTS && i <= newest; i++)
        sum += ring->slots[(newest - i) % RATE_SLOTS];
    return sum;
}

uint64_t rate_per_minute(struct rate *rate, struct mono now, int64_t window_ms) {
    if (window_ms <= MINUTE_MS)
        return total(&rate->seconds, now.ms / SECOND_MS, RATE_SLOTS);
    uint64_t minutes = (uint64_t)(window_ms + MINUTE_MS - 1) / MINUTE_MS;
    return (total(&rate->minutes, now.ms / MINUTE_MS, (int64_t)minutes) + minutes / 2) / minutes;
}
