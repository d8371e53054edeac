/* policy: the settings of a queue that decisions depend on. Plain data, filled by app/config, read
 * by core. Texts live as long as their configuration. */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "core/presets/preset.h"
#include "core/rule.h"

enum jitter { JITTER_FULL, JITTER_EQUAL, JITTER_DECORRELATED, JITTER_NONE };
enum backoff_shape { BACKOFF_EXPONENTIAL, BACKOFF_FIXED, BACKOFF_LIST };

enum { POLICY_DELAYS_MAX = 32, POLICY_ROUTES_MAX = 32, POLICY_PRESETS_MAX = PRESET_COUNT };

#define BUDGET_OFF UINT32_MAX /* budget_permille: retries are not bounded */

struct retry_policy {
    uint32_t attempts;  /* 5 */
    int64_t base_ms;    /* 200 */
    int64_t cap_ms;     /* 30 s */
    enum jitter jitter; /* full */
    enum backoff_shape shape;
    int64_t delays_ms[POLICY_DELAYS_MAX]; /* BACKOFF_LIST: by attempt, the last one repeats */
    size_t delay_count;
    int64_t max_age_ms;         /* 24 h */
    int64_t retry_after_cap_ms; /* 1 h */
    uint32_t budget_permille;   /* 200 = 20 %; retries as a share of first attempts */
    uint32_t
        budget_floor_permille; /* retries per second × 1000 that are always allowed: 3000 = 3/s */
};

struct breaker_policy {
    bool off;
    uint32_t failure_permille; /* 500 = 50 % */
    int64_t window_ms;         /* 10 s */
    uint32_t min_attempts;     /* 20 */
    uint32_t consecutive;      /* 5 in a row, from at least two messages */
    int64_t open_ms;           /* 30 s: longest opening; it starts at 1 s and doubles */
};

struct poison_policy {
    uint32_t crashes;    /* 3 */
    uint32_t deliveries; /* 10: a message with a higher delivery count of its source is dead,
                            unattempted */
};

struct dlq_route {
    struct bytes category;
    struct bytes dlq;
};

/* The class of a handler: which outcomes count for the breaker differs (SEMANTICS 4.1). */
enum handler_class { HANDLER_HTTP, HANDLER_EXEC, HANDLER_LEASE, HANDLER_CALLBACK };

struct policy {
    struct bytes queue;
    enum handler_class handler;
    struct rule *rules; /* the queue's own, tried first */
    size_t rule_count;
    struct rule *answers; /* the queue's own, on answers that look like success (SEMANTICS §15) */
    size_t answer_count;
    enum preset presets[POLICY_PRESETS_MAX];
    size_t preset_count;
    bool presets_named; /* named in the configuration: then they apply to reports, too */
    struct retry_policy retry;
    struct breaker_policy breaker;
    struct poison_policy poison;
    int64_t expire_ms; /* longest wait for the first attempt; 0: unlimited */
    struct bytes dlq;  /* "<queue>.dlq" */
    struct dlq_route routes[POLICY_ROUTES_MAX];
    size_t route_count;
};

/* The DLQ of letters of that category. */
struct bytes policy_dlq(const struct policy *policy, struct bytes category);

/* All defaults of DESIGN §3 for a queue of that name; `dlq_name` must be "<queue>.dlq". */
void policy_init(struct policy *policy, struct bytes queue, struct bytes dlq_name,
                 enum handler_class handler);

/* The presets for an outcome of this kind: a report does not come from the handler, so the
 * handler's defaults do not apply to it. */
const enum preset *policy_presets(const struct policy *policy, enum kind kind, size_t *count);
/* The attempts that a message may have: its own number, or the policy's if that is 0 (NULL:
 * unknown). */
uint32_t policy_attempts(const struct policy *policy, uint32_t own);

#endif
