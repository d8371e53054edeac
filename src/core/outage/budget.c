/* budget: counts in slots of one second.
 *
 * Ten seconds that begin anywhere touch eleven slots, so retries are summed over eleven: the
 * promise then holds for any ten seconds, not only for those that begin with a slot. First attempts
 * are summed over ten whole slots, which can only make the allowance smaller. */
#include "core/outage/budget.h"

#include <assert.h>

enum { RETRY_SLOTS = BUDGET_WINDOW_SLOTS + 1, PERMILLE = 1000 };

static void clear_slots(uint32_t *slots, int64_t size, int64_t from, int64_t to) {
    if (to - from >= size)
        from = to - size;
    for (int64_t slot = from + 1; slot <= to; slot++)
        slots[slot % size] = 0;
}

/* Advances to the slot of `now`; if the clock stands still or goes back, the newest slot stays. */
static void advance(struct budget *budget, struct mono now) {
    int64_t slot = now.ms / BUDGET_SLOT_MS;
    if (slot <= budget->slot)
        return;
    clear_slots(budget->firsts, BUDGET_MEMORY_SLOTS, budget->slot, slot);
    clear_slots(budget->retries, RETRY_SLOTS, budget->slot, slot);
    budget->slot = slot;
}

/* The slot `age` seconds before the newest. */
static uint32_t first_at(const struct budget *budget, int64_t age) {
    assert(age >= 0 && age < BUDGET_MEMORY_SLOTS);
    return age > budget->slot ? 0 : budget->firsts[(budget->slot - age) % BUDGET_MEMORY_SLOTS];
}

static uint64_t busiest(const struct budget *budget) {
    uint64_t sum = 0, most = 0;
    for (int64_t age = 0; age < BUDGET_MEMORY_SLOTS; age++) {
        sum += first_at(budget, age);
        if (age >= BUDGET_WINDOW_SLOTS)
            sum -= first_at(budget, age - BUDGET_WINDOW_SLOTS);
        if (sum > most)
            most = sum;
    }
    if (budget->slot < budget->restored_until_slot && budget->restored > most)
        most = budget->restored;
    return most;
}

/* At least 1: a retry over budget is delayed, not dropped. */
static uint64_t allowance(const struct budget *budget, const struct retry_policy *retry) {
    uint64_t share = busiest(budget) * retry->budget_permille / PERMILLE;
    uint64_t floor = (uint64_t)retry->budget_floor_permille * BUDGET_WINDOW_SLOTS / PERMILLE;
    uint64_t most = share > floor ? share : floor;
    return most ? most : 1;
}

static uint64_t spent(const struct budget *budget) {
    uint64_t sum = 0;
    for (int i = 0; i < RETRY_SLOTS; i++)
        sum += budget->retries[i];
    return sum;
}

void budget_first(struct budget *budget, struct mono now) {
    advance(budget, now);
    budget->firsts[budget->slot % BUDGET_MEMORY_SLOTS]++;
}

bool budget_retry(struct budget *budget, const struct retry_policy *retry, struct mono now,
                  struct mono *again) {
    advance(budget, now);
    if (retry->budget_permille == BUDGET_OFF)
        return true;
    if (spent(budget) >= allowance(budget, retry)) {
        again->ms = (budget->slot + 1) * BUDGET_SLOT_MS;
        return false;
    }
    budget->retries[budget->slot % RETRY_SLOTS]++;
    return true;
}

double budget_remaining_ratio(struct budget *budget, const struct retry_policy *retry,
                              struct mono now) {
    advance(budget, now);
    if (retry->budget_permille == BUDGET_OFF)
        return 1.0;
    uint64_t most = allowance(budget, retry);
    uint64_t used = spent(budget);
    return used >= most ? 0.0 : (double)(most - used) / (double)most;
}

uint32_t budget_peak(struct budget *budget, struct mono now) {
    advance(budget, now);
    uint64_t most = busiest(budget);
    return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

void budget_restore(struct budget *budget, uint32_t peak, struct mono now) {
    assert(now.ms >= 0);
    advance(budget, now);
    budget->restored = peak;
    budget->restored_until_slot = budget->slot + BUDGET_MEMORY_SLOTS;
}
