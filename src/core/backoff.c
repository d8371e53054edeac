/* backoff: delays by shape and jitter. Pure; the generator is an argument. */
#include "core/backoff.h"

#include <assert.h>

#include "base/instant.h"

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Uniform in [from, to]. */
static int64_t between(struct rng *rng, int64_t from, int64_t to) {
    if (to <= from)
        return from;
    return from + (int64_t)rng_below(rng, (uint64_t)(to - from) + 1);
}

/* base × 2^(attempt-1), at most the cap. */
static int64_t ceiling_ms(const struct retry_policy *retry, uint32_t attempt) {
    int64_t ceiling = smaller(retry->base_ms, retry->cap_ms);
    for (uint32_t n = 1; n < attempt && ceiling > 0 && ceiling < retry->cap_ms; n++)
        ceiling = duration_doubled(ceiling, retry->cap_ms);
    return ceiling;
}

/* Each delay depends on the previous one, not on the attempt's number. */
static int64_t decorrelated_ms(const struct retry_policy *retry, int64_t previous_ms,
                               struct rng *rng) {
    int64_t from = smaller(retry->base_ms, retry->cap_ms);
    int64_t previous = larger(previous_ms, from);
    int64_t to = previous > retry->cap_ms / 3 ? retry->cap_ms : previous * 3;
    return between(rng, from, to);
}

static int64_t exponential_ms(const struct retry_policy *retry, uint32_t attempt,
                              int64_t previous_ms, struct rng *rng) {
    int64_t ceiling = ceiling_ms(retry, attempt);
    switch (retry->jitter) {
    case JITTER_FULL:
        return between(rng, smaller(1, ceiling), ceiling);
    case JITTER_EQUAL:
        return between(rng, ceiling - ceiling / 2, ceiling);
    case JITTER_DECORRELATED:
        return decorrelated_ms(retry, previous_ms, rng);
    case JITTER_NONE:
        break;
    }
    return ceiling;
}

static int64_t listed_ms(const struct retry_policy *retry, uint32_t attempt) {
    assert(retry->delay_count <= POLICY_DELAYS_MAX);
    if (retry->delay_count == 0)
        return retry->base_ms;
    size_t place = attempt > 0 ? attempt - 1 : 0;
    return retry->delays_ms[place < retry->delay_count ? place : retry->delay_count - 1];
}

int64_t backoff_longest_ms(const struct retry_policy *retry, uint32_t attempt) {
    switch (retry->shape) {
    case BACKOFF_FIXED:
        return retry->base_ms;
    case BACKOFF_LIST:
        return listed_ms(retry, attempt);
    case BACKOFF_EXPONENTIAL:
        break;
    }
    return retry->jitter == JITTER_DECORRELATED ? retry->cap_ms : ceiling_ms(retry, attempt);
}

/* Configured delays (fixed, list) are used unchanged: without jitter and cap. */
int64_t backoff_delay_ms(const struct retry_policy *retry, uint32_t attempt, int64_t previous_ms,
                         int64_t retry_after_ms, struct rng *rng) {
    int64_t own = retry->shape == BACKOFF_EXPONENTIAL
                      ? exponential_ms(retry, attempt, previous_ms, rng)
                      : backoff_longest_ms(retry, attempt);
    return larger(own, smaller(retry_after_ms, retry->retry_after_cap_ms));
}
