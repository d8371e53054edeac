/* decide: the judgement on one attempt. A pure function of its arguments. */
#ifndef CORE_DECIDE_H
#define CORE_DECIDE_H

#include "base/instant.h"
#include "base/rng.h"
#include "core/classify.h"

/* What judgement needs to know of a message. */
struct subject {
    uint32_t attempt; /* the number of the attempt that has just ended, from 1 (counted ones) */
    uint32_t max_attempts;        /* 0: the policy's (a report may bring its own) */
    uint32_t crashes;             /* before this attempt */
    uint32_t probes;              /* failed without evidence of an outage, before this one */
    struct wall first_failure_at; /* of this round; WALL_NEVER: this is the first failure */
    int64_t previous_delay_ms;
    const struct rule_header *headers;
    size_t header_count;
};

/* The state of the world around the attempt. */
struct circumstance {
    struct wall now; /* ages are told by it alone */
    bool probe;      /* it was a breaker's probe */
    bool outage;     /* a probe: there is evidence of an outage (SEMANTICS 4.2) */
    /* Another message of the queue has succeeded since this one's own last failure. */
    bool others_succeeded;
    bool reset_is_crash; /* a reset speaks against the message (SEMANTICS 4.10) */
    bool fallback_left;  /* another handler stands behind this one */
    bool alone;          /* it ran alone as a suspect: an expired lease is then its own doing */
    bool on_fallback;    /* a fallback handled it: its `halt` is a `retry` */
    bool confirming;     /* it was refused before, and another message has succeeded since */
};

enum action {
    ACTION_DONE,      /* succeeded: forget it */
    ACTION_RETRY,     /* again after delay_ms, counted */
    ACTION_FALLBACK,  /* the next handler at once, within this attempt */
    ACTION_DEAD,      /* to `dlq` as a letter */
    ACTION_DISCARD,   /* on the record, out of the way */
    ACTION_HALT,      /* back, uncounted; the queue stops */
    ACTION_HAND_BACK, /* back, uncounted: interrupted, or a probe that failed */
};

/* A message whose probes fail without evidence of an outage gets this many calls beyond its
 * attempts. */
enum { DECIDE_PROBES_MAX = 8 };

/* Before the reason of a message whose attempts are used up. */
#define DECIDE_EXHAUSTED "max_attempts:"

struct decision {
    enum action action;
    bool counted; /* attempts + 1 */
    bool crashed; /* crashes + 1 */
    bool probed;  /* probes + 1 */
    /* As classified, for the history; DLQ where a `halt` was confirmed as the message's own. */
    enum verdict verdict;
    enum cause cause; /* with DEAD and DISCARD */
    struct bytes category;
    struct bytes reason;      /* without what decide_reason puts before and behind it */
    bool exhausted;           /* DECIDE_EXHAUSTED is put before it */
    struct bytes reason_type; /* ":" and this is put behind it; empty: nothing */
    struct bytes dlq;         /* with DEAD and DISCARD */
    struct bytes rule_name;
    int64_t delay_ms;     /* with RETRY */
    bool breaker_failure; /* the outcome speaks against the downstream's health */
    /* A preset's `halt`, which may be the fault of this message alone. With HALT, other messages
     * are asked before the queue stops (second_opinion.h); with DEAD, they were. */
    bool suspect;
};

/* Rules, in order: interrupted → HAND_BACK uncounted. ok → DONE. Then classify. halt → HALT
 * uncounted; of a fallback it is retry; of a preset, while `confirming`, it is DEAD with cause
 * terminal. A crash (signal always; reset only if reset_is_crash; expired when alone) adds 1; at
 * poison.crashes the message is dead with cause crash.
 *
 * A failed probe is one whose failure counts for the breaker and that is to be retried, or that
 * only a preset has dead; a signal is never one. With others_succeeded it is a counted attempt and
 * retried. Otherwise it is uncounted: HAND_BACK, and without evidence of an outage `probed`, until
 * attempts + probes reach the limit of attempts + DECIDE_PROBES_MAX (exhausted) or max_age is over
 * (expired). A probe with any other answer, or whose terminal verdict is the handler's own or of
 * the queue's own rule, is judged like any attempt.
 *
 * Counted failures then meet attempts (exhausted) and max_age (expired). fallback with no handler
 * left is retry. */
struct decision decide(const struct policy *policy, const struct subject *subject,
                       const struct outcome *outcome, const struct rule_facts *facts,
                       const struct circumstance *around, struct rng *rng);

/* Whether a filter by reason finds it: the reason starts with the prefix, or does so behind
 * DECIDE_EXHAUSTED. */
bool decide_reason_matches(struct bytes reason, struct bytes prefix);
/* The whole reason, as it stands in envelopes: "max_attempts:timeout", "unclassified:OrderError".
 * A slice of the decision, or of `memory`. */
enum { DECIDE_REASON_MAX = 512 };
struct bytes decide_reason(const struct decision *decision, char memory[DECIDE_REASON_MAX]);

/* The judgement on a message that took our own process with it (SEMANTICS 5.1): a counted attempt
 * and a crash, retried until poison.crashes. */
struct decision decide_crash(const struct policy *policy, const struct subject *subject,
                             const struct outcome *outcome, const struct circumstance *around,
                             struct rng *rng);

#endif
