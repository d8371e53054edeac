/* alert: alert rules, samples and receivers (DESIGN §8). Plain data: the configuration fills the
 * rules, the caller's sampler fills the samples, and alert_state.h decides when an alert fires. */
#ifndef TRIAGE_ALERTS_ALERT_H
#define TRIAGE_ALERTS_ALERT_H

#include "base/bytes.h"
#include "base/instant.h"

#define ALERT_SEVERITY_LIST(X)                                                                     \
    X(INFO, "info")                                                                                \
    X(WARNING, "warning")                                                                          \
    X(CRITICAL, "critical")

/* The metrics of rules, and whether their subject is a DLQ (otherwise a queue). Those behind the
 * line are for the default rules alone: users cannot name them. */
#define ALERT_METRIC_LIST(X)                                                                       \
    X(DLQ_DEPTH, "dlq_depth", true)                                                                \
    X(DLQ_ARRIVALS, "dlq_arrivals_per_minute", true)                                               \
    X(DLQ_OLDEST, "dlq_oldest_age_seconds", true)                                                  \
    X(DLQ_CAP_RATIO, "dlq_cap_ratio", true)                                                        \
    X(QUEUE_LAG, "queue_lag", false)                                                               \
    X(BREAKER_OPEN, "breaker_open_seconds", false)                                                 \
    X(SUCCESS_RATIO, "success_ratio", false)                                                       \
    X(QUEUE_STALLED, "queue_stalled_seconds", false)                                               \
    X(SOURCE_UNREACHABLE, "source_unreachable_seconds", false)                                     \
    /* ---- */                                                                                     \
    X(REASON_RATIO, "dlq_reason_times_usual", true)                                                \
    X(CAP_FORECAST, "dlq_cap_forecast_seconds", true)                                              \
    X(FLOOD, "dlq_flood", true)                                                                    \
    X(UNREADABLE, "queue_unreadable", false)                                                       \
    X(SPILLED, "dlq_spilled", true)                                                                \
    X(GROUP_NEW, "group_new", true)                                                                \
    X(GROUP_RETURNED, "group_returned", true)                                                      \
    X(QUEUE_HALTED, "queue_halted", false)                                                         \
    X(BUDGET_EXHAUSTED, "budget_exhausted", false)                                                 \
    X(REPLAY_ABORTED, "replay_aborted", false)                                                     \
    X(TRIAGE_STOPPED, "triage_stopped", true)                                                      \
    X(TRIAGE_ESCALATED, "triage_escalated", true)

#define ALERT_ENUM_SEVERITY(code, text)    ALERT_##code,
#define ALERT_ENUM_METRIC(code, text, dlq) METRIC_##code,

enum alert_severity { ALERT_SEVERITY_LIST(ALERT_ENUM_SEVERITY) ALERT_SEVERITY_COUNT };
enum alert_metric { ALERT_METRIC_LIST(ALERT_ENUM_METRIC) METRIC_COUNT };
enum { METRIC_OF_USERS = METRIC_SOURCE_UNREACHABLE + 1 };

extern const char *const alert_severity_words[]; /* ends with NULL */
extern const char *const alert_metric_words[];   /* those that users can name; ends with NULL */
const char *alert_metric_text(enum alert_metric metric);
bool alert_metric_is_dlq(enum alert_metric metric);

struct alert_rule {
    struct bytes name;
    enum alert_metric metric;
    struct bytes subject; /* glob over DLQs or queues */
    double limit;
    bool below; /* breached below the limit instead of above it */
    int64_t for_ms;
    int64_t repeat_ms; /* 0: sent once */
    bool ticket;       /* a task for a person: no notice is sent when it is resolved */
    bool named; /* goes to the receivers that a sample names; without any there is no alert */
    enum alert_severity severity;
    struct bytes runbook;      /* empty: the one in the subject's configuration */
    struct bytes inhibited_by; /* name of a rule: while that one fires for the same subject with
                                  greater severity, no notice of this one is sent; empty: none */
    const struct bytes *to;    /* names of receivers; empty: all of them */
    size_t to_count;
};

/* One measured value. Subject, words and letters live as long as the sample. */
struct alert_sample {
    enum alert_metric metric;
    struct bytes subject; /* "orders.dlq", "orders", "orders.dlq/9f2c…" */
    double value;
    struct bytes words;   /* text for people besides the value; may be empty */
    struct bytes letters; /* the letters concerned, as a JSON array; may be empty */
    /* Receivers of the notice whatever the rule says of receivers and severities; empty: as the
     * rule says. They outlive the alerts. */
    const struct bytes *to;
    size_t to_count;
};

/* Owner and runbook of a DLQ or queue, and its counterpart: of a queue its default DLQ, of a DLQ
 * the first queue that sends to it. Each may be empty. */
struct alert_about {
    struct bytes owner, runbook;
    struct bytes queue, dlq;
};

enum alert_receiver_kind {
    RECEIVER_WEBHOOK,
    RECEIVER_SLACK,
    RECEIVER_PAGERDUTY,
    RECEIVER_ALERTMANAGER
};

struct handler;

struct alert_receiver {
    struct bytes name;
    enum alert_receiver_kind kind;
    struct bytes key;             /* PagerDuty's routing key */
    enum alert_severity severity; /* the least severity that it gets */
    /* Globs; empty: any. The receiver gets alerts whose subject matches `owner` and, if given, the
     * glob of the subject's own kind; where only the other kind's glob is given, the subject's
     * counterpart must match it. */
    struct bytes queue, dlq, owner;
    struct handler *handler; /* posts to its URL */
};

/* The default rules; a rule of the same name in the configuration replaces one. */
extern const struct alert_rule alert_defaults[];
extern const size_t alert_default_count;

#endif
