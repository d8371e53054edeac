/* triage_rule: what a DLQ's `triage` says: which letters, what is done with them, how often. Plain
 * data, filled by the configuration. */
#ifndef TRIAGE_TRIAGE_RULE_H
#define TRIAGE_TRIAGE_RULE_H

#include "base/json.h"
#include "triage/replay_order.h"

/* In the configuration, in the audit and as a label of impound_triage_total. */
#define TRIAGE_ACTION_LIST(X)                                                                      \
    X(REPLAY, "replay")                                                                            \
    X(ARCHIVE, "archive")                                                                          \
    X(ESCALATE, "escalate")                                                                        \
    X(DISCARD, "discard")                                                                          \
    X(COMPENSATE, "compensate")

#define TRIAGE_ENUM_ACTION(code, text) TRIAGE_##code,
enum triage_action { TRIAGE_ACTION_LIST(TRIAGE_ENUM_ACTION) TRIAGE_ACTION_COUNT };

extern const char *const triage_rule_actions[]; /* NULL behind the last */
bool triage_rule_action_parse(struct bytes text, enum triage_action *out);

enum {
    TRIAGE_RULES_MAX = 32,        /* of one DLQ */
    TRIAGE_LIMIT = 50,            /* letters of a run */
    TRIAGE_LIMIT_MAX = 1000,      /* … at most */
    TRIAGE_STOP_AFTER = 3,        /* runs in a row that did not help */
    TRIAGE_JUDGED_LEAST = 10,     /* letters of a run that can show that it did not help */
    TRIAGE_STOP_AFTER_MAX = 1000, /* … at most */
    TRIAGE_TELL_MAX = 32,         /* receivers of one rule */
};
#define TRIAGE_MINUTE_MS    (60LL * 1000)
#define TRIAGE_EVERY_MS     (15 * TRIAGE_MINUTE_MS)
#define TRIAGE_LIFETIME_MS  (24 * 60 * TRIAGE_MINUTE_MS)
#define TRIAGE_BACKOFF_MS   (6 * 60 * TRIAGE_MINUTE_MS)
#define TRIAGE_REPLAYS_MOST UINT32_MAX

/* Which letters; all that is given must match. */
struct triage_when {
    struct bytes category, error_type, key, task_type; /* exactly; empty: any */
    struct bytes reason;                               /* … or how it begins */
    bool has_cause, has_fingerprint;
    enum cause cause;
    uint64_t fingerprint;
    int64_t age_ms;                       /* dead for longer than this; 0: any */
    uint32_t replays_least, replays_most; /* how often it was replayed */
    uint32_t attempts;                    /* at least so many */
    struct bytes where;                   /* jq on the envelope; empty: none */
};

struct triage_rule {
    struct triage_when when;
    enum triage_action action;
    int64_t every_ms;
    uint32_t limit;          /* letters of a run, the oldest first */
    int64_t lifetime_ms;     /* replay: from its first failure on, a letter is sent for so long */
    int64_t backoff_ms;      /* the longest wait after runs that did not help */
    uint32_t stop_after;     /* so many of those in a row */
    struct bytes edit;       /* replay: a jq program on the body; empty: as it is */
    struct bytes to;         /* replay: another queue; empty: its own */
    struct replay_rate rate; /* replay */
    /* replay: stages that must succeed first, and the replay aborts when letters come back; none:
     * each letter is judged by itself. */
    uint32_t canary[REPLAY_STAGES_MAX];
    size_t canary_count;
    struct bytes *tell; /* escalate: receivers of alerts who are told */
    size_t tell_count;
};

/* The rules of one DLQ, and what else they must know of it. */
struct triage_dlq {
    struct bytes name;
    struct bytes archive; /* "file:…"; empty: none */
    int64_t fresh_ms;     /* letters that are older are not replayed; 0: none is too old */
    const struct triage_rule *rules;
    size_t rule_count;
};

/* Every 15m, at most 50, for 24h; matches every letter. */
void triage_rule_init(struct triage_rule *rule);
/* Whether any letter at all would match. */
bool triage_rule_is_open(const struct triage_when *when);
/* Only replays and compensations can turn out to be of no use. */
bool triage_rule_may_fail(const struct triage_rule *rule);
/* Members "when", "do", "every" …, in the words of the configuration. Two rules with the same text
 * are the same rule. */
void triage_rule_put(struct json_out *json, const struct triage_rule *rule);

#endif
