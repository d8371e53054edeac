/* budget: bounds retries to a share of first attempts, so that they cannot overload the downstream.
 *
 * Retries in any 10 s ≤ share × the first attempts of the busiest 10 s in the last 10 minutes,
 * never below the floor (SEMANTICS 4.6). A retry over budget is delayed, never dropped: the caller
 * asks before it hands over a due retry, and otherwise learns when to ask again. */
#ifndef CORE_OUTAGE_BUDGET_H
#define CORE_OUTAGE_BUDGET_H

#include "base/instant.h"
#include "core/policy.h"

enum {
    BUDGET_SLOT_MS = 1000,
    BUDGET_WINDOW_SLOTS = 10,  /* "any 10 s" */
    BUDGET_MEMORY_SLOTS = 600, /* "the last 10 minutes" */
};

/* Opaque to callers except for its size; zeroed is empty. */
struct budget {
    uint32_t firsts[BUDGET_MEMORY_SLOTS];
    uint32_t retries[BUDGET_WINDOW_SLOTS + 1];
    int64_t slot;                /* number of the newest slot, mono.ms / BUDGET_SLOT_MS */
    uint32_t restored;           /* the busiest 10 s before a restart … */
    int64_t restored_until_slot; /* … and when it stops counting */
};

void budget_first(struct budget *budget, struct mono now);
/* True and counted, or false: ask again at *again. */
bool budget_retry(struct budget *budget, const struct retry_policy *retry, struct mono now,
                  struct mono *again);
double budget_remaining_ratio(struct budget *budget, const struct retry_policy *retry,
                              struct mono now);
/* First attempts of the busiest 10 s, stored over a restart. */
uint32_t budget_peak(struct budget *budget, struct mono now);
void budget_restore(struct budget *budget, uint32_t peak, struct mono now);

#endif
