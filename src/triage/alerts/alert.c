/* alert: the names of severities and metrics, and the default rules. */
#include "triage/alerts/alert.h"

#include <assert.h>

#define TEXT_OF_SEVERITY(code, text)    [ALERT_##code] = text,
#define TEXT_OF_METRIC(code, text, dlq) [METRIC_##code] = text,
#define DLQ_OF_METRIC(code, text, dlq)  [METRIC_##code] = dlq,

#define MINUTES(n) ((int64_t)(n)*60 * 1000)
#define HOURS(n)   MINUTES((n)*60)

const char *const alert_severity_words[] = {ALERT_SEVERITY_LIST(TEXT_OF_SEVERITY) NULL};

static const char *const metric_words[] = {ALERT_METRIC_LIST(TEXT_OF_METRIC)};
static const bool metric_is_dlq[] = {ALERT_METRIC_LIST(DLQ_OF_METRIC)};

const char *const alert_metric_words[] = {
    [METRIC_DLQ_DEPTH] = "dlq_depth",
    [METRIC_DLQ_ARRIVALS] = "dlq_arrivals_per_minute",
    [METRIC_DLQ_OLDEST] = "dlq_oldest_age_seconds",
    [METRIC_DLQ_CAP_RATIO] = "dlq_cap_ratio",
    [METRIC_QUEUE_LAG] = "queue_lag",
    [METRIC_BREAKER_OPEN] = "breaker_open_seconds",
    [METRIC_SUCCESS_RATIO] = "success_ratio",
    [METRIC_QUEUE_STALLED] = "queue_stalled_seconds",
    [METRIC_SOURCE_UNREACHABLE] = "source_unreachable_seconds",
    [METRIC_OF_USERS] = NULL,
};

const char *alert_metric_text(enum alert_metric metric) {
    assert(metric < METRIC_COUNT);
    return metric_words[metric];
}

bool alert_metric_is_dlq(enum alert_metric metric) {
    assert(metric < METRIC_COUNT);
    return metric_is_dlq[metric];
}

#define RULE(rule, of, over, wait, level)                                                          \
    {                                                                                              \
        .name = {rule, sizeof rule - 1}, .metric = METRIC_##of, .subject = {"*", 1},               \
        .limit = over, .for_ms = wait, .repeat_ms = HOURS(4), .severity = ALERT_##level            \
    }

const struct alert_rule alert_defaults[] = {
    {.name = {"DLQNotEmpty", sizeof "DLQNotEmpty" - 1},
     .metric = METRIC_DLQ_DEPTH,
     .subject = {"*", 1},
     .repeat_ms = HOURS(4),
     .severity = ALERT_WARNING,
     .inhibited_by = {"DLQDepthHigh", sizeof "DLQDepthHigh" - 1}},
    RULE("DLQDepthHigh", DLQ_DEPTH, 100, MINUTES(5), CRITICAL),
    RULE("DLQArrivalSpike", DLQ_ARRIVALS, 10, MINUTES(5), WARNING),
    RULE("DLQStaleMessages", DLQ_OLDEST, 24 * 3600, 0, WARNING),
    RULE("DLQReasonSpike", REASON_RATIO, 3, 0, WARNING),
    RULE("DLQNewGroup", GROUP_NEW, 0, 0, INFO),
    RULE("DLQGroupReturned", GROUP_RETURNED, 0, 0, WARNING),
    {.name = {"DLQCapForecast", sizeof "DLQCapForecast" - 1},
     .metric = METRIC_CAP_FORECAST,
     .subject = {"*", 1},
     .limit = 3600,
     .below = true,
     .repeat_ms = HOURS(4),
     .severity = ALERT_CRITICAL},
    RULE("DLQFlood", FLOOD, 0, 0, CRITICAL),
    RULE("DLQSpilled", SPILLED, 0, 0, CRITICAL),
    RULE("MessageUnreadable", UNREADABLE, 0, 0, CRITICAL),
    RULE("QueueHalted", QUEUE_HALTED, 0, 0, CRITICAL),
    RULE("QueueStalled", QUEUE_STALLED, 600, 0, WARNING),
    RULE("SourceUnreachable", SOURCE_UNREACHABLE, 300, 0, WARNING),
    RULE("BreakerOpen", BREAKER_OPEN, 300, 0, WARNING),
    RULE("RetryBudgetExhausted", BUDGET_EXHAUSTED, 0, MINUTES(1), WARNING),
    RULE("ReplayAborted", REPLAY_ABORTED, 0, 0, WARNING),
    RULE("TriageRuleStopped", TRIAGE_STOPPED, 0, 0, WARNING),
    {.name = {"TriageEscalated", sizeof "TriageEscalated" - 1},
     .metric = METRIC_TRIAGE_ESCALATED,
     .subject = {"*", 1},
     .ticket = true,
     .severity = ALERT_WARNING},
};
const size_t alert_default_count = sizeof alert_defaults / sizeof *alert_defaults;
