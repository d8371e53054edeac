/* policy: the defaults of DESIGN §3. */
#include "core/policy.h"

#include <assert.h>

enum { SECOND_MS = 1000, HOUR_MS = 3600 * SECOND_MS, DAY_MS = 24 * HOUR_MS };

static const struct retry_policy retry_defaults = {
    .attempts = 5,
    .base_ms = 200,
    .cap_ms = 30 * SECOND_MS,
    .jitter = JITTER_FULL,
    .shape = BACKOFF_EXPONENTIAL,
    .max_age_ms = DAY_MS,
    .retry_after_cap_ms = HOUR_MS,
    .budget_permille = 200,
    .budget_floor_permille = 3000,
};

static const struct breaker_policy breaker_defaults = {
    .failure_permille = 500,
    .window_ms = 10 * SECOND_MS,
    .min_attempts = 20,
    .consecutive = 5,
    .open_ms = 30 * SECOND_MS,
};

static const struct poison_policy poison_defaults = {.crashes = 3, .deliveries = 10};

/* SEMANTICS §3, last line. */
static const struct {
    enum preset presets[POLICY_PRESETS_MAX];
    size_t count;
} preset_defaults[] = {
    [HANDLER_HTTP] = {{PRESET_HTTP}, 1},
    [HANDLER_EXEC] = {{PRESET_EXEC, PRESET_ERRORS}, 2},
    [HANDLER_LEASE] = {{PRESET_HTTP, PRESET_ERRORS}, 2},
    [HANDLER_CALLBACK] = {{PRESET_HTTP, PRESET_ERRORS}, 2},
};

static const enum preset report_defaults[] = {PRESET_HTTP, PRESET_ERRORS};

void policy_init(struct policy *policy, struct bytes queue, struct bytes dlq_name,
                 enum handler_class handler) {
    assert(handler <= HANDLER_CALLBACK);
    *policy = (struct policy){
        .queue = queue,
        .handler = handler,
        .preset_count = preset_defaults[handler].count,
        .retry = retry_defaults,
        .breaker = breaker_defaults,
        .poison = poison_defaults,
        .dlq = dlq_name,
    };
    for (size_t i = 0; i < policy->preset_count; i++)
        policy->presets[i] = preset_defaults[handler].presets[i];
}

const enum preset *policy_presets(const struct policy *policy, enum kind kind, size_t *count) {
    if (kind == KIND_REPORTED && !policy->presets_named) {
        *count = sizeof report_defaults / sizeof *report_defaults;
        return report_defaults;
    }
    *count = policy->preset_count;
    return policy->presets;
}

uint32_t policy_attempts(const struct policy *policy, uint32_t own) {
    return own || !policy ? own : policy->retry.attempts;
}

struct bytes policy_dlq(const struct policy *policy, struct bytes category) {
    assert(policy->route_count <= POLICY_ROUTES_MAX);
    for (size_t i = 0; i < policy->route_count; i++)
        if (bytes_eq(policy->routes[i].category, category))
            return policy->routes[i].dlq;
    return policy->dlq;
}
