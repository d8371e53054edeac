/* Budget and breaker, with the caller's clock. */
#include <assert.h>
#include <stdlib.h>

#include "lib/library.h"
#include "base/memory.h"
#include "core/outage/breaker.h"
#include "core/outage/budget.h"

static_assert((int)IMPOUND_BREAKER_HALF_OPEN == (int)BREAKER_HALF_OPEN, "breaker states");

struct impound_budget {
    struct budget budget;
};

struct impound_budget *impound_budget_new(void) {
    return memory_new(sizeof(struct impound_budget));
}

void impound_budget_free(struct impound_budget *budget) {
    free(budget);
}

void impound_budget_first(struct impound_budget *budget, int64_t now_ms) {
    budget_first(&budget->budget, (struct mono){now_ms});
}

int impound_budget_retry(struct impound_budget *budget, const struct impound_policy *policy,
                         int64_t now_ms, int64_t *again_ms) {
    struct mono again = {now_ms};
    bool may = budget_retry(&budget->budget, &library_policy(policy)->retry, (struct mono){now_ms},
                            &again);
    if (again_ms)
        *again_ms = again.ms;
    return may;
}

double impound_budget_remaining(struct impound_budget *budget, const struct impound_policy *policy,
                                int64_t now_ms) {
    return budget_remaining_ratio(&budget->budget, &library_policy(policy)->retry,
                                  (struct mono){now_ms});
}

struct impound_breaker {
    struct breaker breaker;
    uint64_t probes; /* probes that have ended */
};

struct impound_breaker *impound_breaker_new(void) {
    return memory_new(sizeof(struct impound_breaker));
}

void impound_breaker_free(struct impound_breaker *breaker) {
    free(breaker);
}

enum impound_breaker_state impound_breaker_note(struct impound_breaker *breaker,
                                                const struct impound_policy *policy, int64_t now_ms,
                                                uint64_t message, int failed,
                                                int64_t retry_after_ms) {
    breaker_note(&breaker->breaker, &library_policy(policy)->breaker, (struct mono){now_ms},
                 (struct breaker_answer){message, failed != 0, retry_after_ms});
    return impound_breaker_state(breaker);
}

uint32_t impound_breaker_probes(struct impound_breaker *breaker,
                                const struct impound_policy *policy, int64_t now_ms) {
    return breaker_probes_wanted(&breaker->breaker, &library_policy(policy)->breaker,
                                 (struct mono){now_ms});
}

void impound_breaker_probe_started(struct impound_breaker *breaker) {
    const struct breaker *inner = &breaker->breaker;
    if (inner->state == BREAKER_HALF_OPEN && inner->round_started < inner->round)
        breaker_probe_started(&breaker->breaker);
}

void impound_breaker_probe_withdrawn(struct impound_breaker *breaker) {
    breaker_probe_withdrawn(&breaker->breaker);
}

enum impound_breaker_state impound_breaker_probe_ended_for(struct impound_breaker *breaker,
                                                           const struct impound_policy *policy,
                                                           int64_t now_ms, uint32_t concurrency,
                                                           uint64_t message, int failed,
                                                           int64_t retry_after_ms) {
    breaker_probe_ended(&breaker->breaker, &library_policy(policy)->breaker, (struct mono){now_ms},
                        concurrency, (struct breaker_answer){message, failed != 0, retry_after_ms});
    return impound_breaker_state(breaker);
}

enum impound_breaker_state impound_breaker_probe_ended(struct impound_breaker *breaker,
                                                       const struct impound_policy *policy,
                                                       int64_t now_ms, uint32_t concurrency,
                                                       int failed, int64_t retry_after_ms) {
    return impound_breaker_probe_ended_for(breaker, policy, now_ms, concurrency,
                                           UINT64_MAX - breaker->probes++, failed, retry_after_ms);
}

enum impound_breaker_state impound_breaker_state(const struct impound_breaker *breaker) {
    return (enum impound_breaker_state)breaker->breaker.state;
}

int64_t impound_breaker_until(const struct impound_breaker *breaker) {
    return breaker->breaker.until.ms;
}

int impound_breaker_outage(const struct impound_breaker *breaker, uint64_t message) {
    return breaker_is_outage(&breaker->breaker, message);
}

int impound_breaker_arrived(struct impound_breaker *breaker, int64_t now_ms) {
    if (breaker_arrival_from(&breaker->breaker).ms > now_ms)
        return 0;
    breaker_arrived(&breaker->breaker, (struct mono){now_ms});
    return 1;
}

void impound_breaker_resume(struct impound_breaker *breaker, int64_t now_ms) {
    breaker_resume(&breaker->breaker, (struct mono){now_ms});
}
