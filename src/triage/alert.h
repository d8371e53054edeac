/* alert: what is worth telling people, and whom (DESIGN §8). Plain data: rules are filled by the
 * configuration, samples by whoever watches; alert_state.h decides when something is told. */
#ifndef TRIAGE_ALERT_H
#define TRIAGE_ALERT_H

#include "base/bytes.h"
#include "base/instant.h"

#define ALERT_SEVERITY_LIST(X)                                                                     \
    X(INFO, "info")                                                                                \
    X(WARNING, "warning")                                                                          \
    X(CRITICAL, "critical")

/* What a rule may be about, and whether its subject is a DLQ. Those behind the line are watched by
 * the default rules alone: their values are ours to choose. */
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

extern const char *const alert_severity_words[]; /* NULL behind the last */
extern const char *const alert_metric_words[];   /* the users' alone, NULL behind the last */
const char *alert_metric_text(enum alert_metric metric);
bool alert_metric_is_dlq(enum alert_metric metric);

struct alert_rule {
    struct bytes name;
    enum alert_metric metric;
    struct bytes subject; /* glob over DLQs or queues */
    double limit;
    bool below; /* it is breached below the limit, not above it */
    int64_t for_ms;
    int64_t repeat_ms; /* 0: told once */
    bool ticket;       /* somebody is to deal with it: nobody is told that it is over */
    bool named;        /* it is for those whom a sample names, and no alert without any */
    enum alert_severity severity;
    struct bytes runbook;      /* what to do; empty: as its subject's configuration says */
    struct bytes inhibited_by; /* a rule: while that one fires for the subject, and is of greater
                                  severity, nothing is told of this one; empty: none */
    const struct bytes *to;    /* names of receivers; none: all of them */
    size_t to_count;
};

/* One reading. The subject and the words live as long as the reading does. */
struct alert_sample {
    enum alert_metric metric;
    struct bytes subject; /* "orders.dlq", "orders", "orders.dlq/9f2c…" */
    double value;
    struct bytes words;   /* what a person should read besides the value; may be empty */
    struct bytes letters; /* the letters that it is about, as a JSON array; may be empty */
    /* Receivers who are told whatever the rule says of receivers and severities; none: as the rule
     * says. They outlive the alerts. */
    const struct bytes *to;
    size_t to_count;
};

/* Whose a DLQ or a queue is, where it says what to do, and which queue and DLQ belong together: of
 * a queue its default DLQ, of a DLQ the first queue that sends to it. Each may be empty. */
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
    enum alert_severity severity; /* the least that it is told of */
    /* Globs; empty: any. It is told of subjects that fit `owner` and, if given, the glob of their
     * own kind; where only the other kind's is given, the queue or DLQ that belongs to them fits
     * it. */
    struct bytes queue, dlq, owner;
    struct handler *handler; /* posts to its URL */
};

/* The rules that hold when nobody says otherwise; one of the same name in the configuration takes
 * its place. */
extern const struct alert_rule alert_defaults[];
extern const size_t alert_default_count;

#endif
