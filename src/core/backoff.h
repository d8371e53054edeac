/* backoff: the delay before the next attempt. Pure. */
#ifndef CORE_BACKOFF_H
#define CORE_BACKOFF_H

#include "base/rng.h"
#include "core/policy.h"

/* The delay after failed attempt n (from 1). `previous_ms` is the last delay (for decorrelated
 * jitter; 0 at the first). With full jitter the delay is in (0, base × 2^(n-1)], never above the
 * cap. A Retry-After (−1: none) gives max(own, header), the header capped at retry_after_cap. */
int64_t backoff_delay_ms(const struct retry_policy *retry, uint32_t attempt, int64_t previous_ms,
                         int64_t retry_after_ms, struct rng *rng);
/* The longest possible delay, without Retry-After. */
int64_t backoff_longest_ms(const struct retry_policy *retry, uint32_t attempt);

#endif
