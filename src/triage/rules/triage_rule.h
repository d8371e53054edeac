/* triage_rule: a rule of a DLQ's `triage`: which letters, which action, how often. Plain data,
 * filled by the configuration. */
#ifndef TRIAGE_RULES_TRIAGE_RULE_H
#define TRIAGE_RULES_TRIAGE_RULE_H

#include "base/json/json.h"
#include "triage/replay/replay_order.h"

/* Used in the configuration, in the audit log and as a label of impound_triage_total. */
#define TRIAGE_ACTION_LIST(X)                                                                      \
    X(REPLAY, "replay")                                                                            \
    X(ARCHIVE, "archive")                                                                          \
    X(ESCALATE, "escalate")                                                                        \
    X(DISCARD, "discard")                                                                          \
    X(COMPENSATE, "compensate")

#define TRIAGE_ENUM_ACTION(code, text) TRIAGE_##code,
enum triage_action { TRIAGE_ACTION_LIST(TRIAGE_ENUM_ACTION) TRIAGE_ACTION_COUNT };

extern const char *const triage_rule_actions[]; /* ends with NULL */
bool triage_rule_action_parse(struct bytes text, enum triage_action *out);

enum {
    TRIAGE_RULES_MAX = 32,        /* of one DLQ */
    TRIAGE_LIMIT = 50,            /* letters in a run */
    TRIAGE_LIMIT_MAX = 1000,      /* … at most */
    TRIAGE_STOP_AFTER = 3,        /* consecutive runs that did not help */
    TRIAGE_JUDGED_LEAST = 10,     /* letters in a run from which on it is judged */
    TRIAGE_STOP_AFTER_MAX = 1000, /* … at most */
    TRIAGE_TELL_MAX = 32,         /* receivers of one rule */
};
#define TRIAGE_MINUTE_MS    (60LL * 1000)
#define TRIAGE_EVERY_MS     (15 * TRIAGE_MINUTE_MS)
#define TRIAGE_LIFETIME_MS  (24 * 60 * TRIAGE_MINUTE_MS)
#define TRIAGE_BACKOFF_MS   (6 * 60 * TRIAGE_MINUTE_MS)
#define TRIAGE_REPLAYS_MOST UINT32_MAX

/* Conditions; all that are given must hold. */
struct triage_when {
    struct bytes category, error_type, key, task_type; /* exact; empty: any */
    struct bytes reason;                               /* exact or a prefix */
    bool has_cause, has_fingerprint;
    enum cause cause;
    uint64_t fingerprint;
    int64_t age_ms;                       /* dead for longer than this; 0: any */
    uint32_t replays_least, replays_most; /* number of replays */
    uint32_t attempts;                    /* minimum */
    struct bytes where;                   /* jq on the envelope; empty: none */
};

struct triage_rule {
    struct triage_when when;
    enum triage_action action;
    int64_t every_ms;
    uint32_t limit;          /* letters in a run, oldest first */
    int64_t lifetime_ms;     /* replay: age since the first failure up to which a letter is sent */
    int64_t backoff_ms;      /* longest wait after runs that did not help */
    uint32_t stop_after;     /* consecutive runs that did not help before it stops */
    struct bytes edit;       /* replay: a jq program on the body; empty: unchanged */
    struct bytes to;         /* replay: another queue; empty: its own */
    struct replay_rate rate; /* replay */
    /* replay: stages that must succeed first, with the failure guard; none: each letter is judged
     * alone. */
    uint32_t canary[REPLAY_STAGES_MAX];
    size_t canary_count;
    struct bytes *tell; /* escalate: receivers of the notice */
    size_t tell_count;
};

/* The rules of one DLQ, and the DLQ's settings that they need. */
struct triage_dlq {
    struct bytes name;
    struct bytes archive; /* "file:…"; empty: none */
    int64_t fresh_ms;     /* older letters are not replayed; 0: no limit */
    const struct triage_rule *rules;
    size_t rule_count;
};

/* Defaults: every 15m, at most 50, for 24h; matches every letter. */
void triage_rule_init(struct triage_rule *rule);
/* Whether every letter matches. */
bool triage_rule_is_open(const struct triage_when *when);
/* Whether a run can turn out not to help: replays and compensations. */
bool triage_rule_may_fail(const struct triage_rule *rule);
/* Writes the members "when", "do", "every" …, with the configuration's keys. Two rules with the
 * same text are the same rule. */
void triage_rule_put(struct json_out *json, const struct triage_rule *rule);

#endif
