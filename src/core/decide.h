/* decide: the decision about one attempt. A pure function of its arguments. */
#ifndef CORE_DECIDE_H
#define CORE_DECIDE_H

#include "base/instant.h"
#include "base/rng.h"
#include "core/classify.h"

/* The facts of a message that a decision needs. */
struct subject {
    uint32_t attempt;             /* number of the attempt that has ended, from 1 (counted ones) */
    uint32_t max_attempts;        /* 0: the policy's (a report may bring its own) */
    uint32_t crashes;             /* before this attempt */
    uint32_t probes;              /* failed without evidence of an outage, before this one */
    struct wall first_failure_at; /* of this round; WALL_NEVER: this is the first failure */
    int64_t previous_delay_ms;
    const struct rule_header *headers;
    size_t header_count;
};

/* The circumstances of the attempt. */
struct circumstance {
    struct wall now; /* for all ages */
    bool probe;      /* it was a probe of the breaker */
    bool outage;     /* a probe: there is evidence of an outage (SEMANTICS 4.2) */
    /* Another message of the queue has succeeded since this one's own last failure. */
    bool others_succeeded;
    bool reset_is_crash; /* a reset speaks against the message (SEMANTICS 4.10) */
    bool fallback_left;  /* another handler follows in the fallback list */
    bool alone;          /* it ran alone as a suspect: an expired lease is then its own fault */
    bool on_fallback;    /* a fallback handled it: its `halt` is a `retry` */
    bool confirming;     /* it was refused before, and another message has succeeded since */
};

enum action {
    ACTION_DONE,      /* succeeded: removed from the store */
    ACTION_RETRY,     /* retried after delay_ms, counted */
    ACTION_FALLBACK,  /* the next handler at once, within this attempt */
    ACTION_DEAD,      /* becomes a letter in `dlq` */
    ACTION_DISCARD,   /* becomes a discarded letter */
    ACTION_HALT,      /* stored, uncounted; the queue halts */
    ACTION_HAND_BACK, /* stored or returned, uncounted: interrupted, or a failed probe */
};

/* A message whose probes fail without evidence of an outage gets this many calls beyond its
 * attempts. */
enum { DECIDE_PROBES_MAX = 8 };

/* Prefix of the reason of a message whose attempts are used up. */
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
    struct bytes reason;      /* without the prefix and suffix that decide_reason adds */
    bool exhausted;           /* the prefix DECIDE_EXHAUSTED is added */
    struct bytes reason_type; /* added behind ":"; empty: nothing */
    struct bytes dlq;         /* with DEAD and DISCARD */
    struct bytes rule_name;
    int64_t delay_ms;     /* with RETRY */
    bool breaker_failure; /* the outcome counts against the downstream */
    /* A preset's `halt`, which may be the fault of this message alone. With HALT, other messages
     * are tried before the queue halts (second_opinion.h); with DEAD, they were. */
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

/* Whether a reason filter matches: the reason starts with the prefix, or does so after
 * DECIDE_EXHAUSTED. */
bool decide_reason_matches(struct bytes reason, struct bytes prefix);
/* The whole reason, as in envelopes: "max_attempts:timeout", "unclassified:OrderError". A slice of
 * the decision, or of `memory`. */
enum { DECIDE_REASON_MAX = 512 };
struct bytes decide_reason(const struct decision *decision, char memory[DECIDE_REASON_MAX]);

/* The decision about a message whose callback crashed our own process (SEMANTICS 5.1): a counted
 * attempt and a crash, retried until poison.crashes. */
struct decision decide_crash(const struct policy *policy, const struct subject *subject,
                             const struct outcome *outcome, const struct circumstance *around,
                             struct rng *rng);

#endif
