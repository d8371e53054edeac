/* decide: see the rules in the header. Pure. */
#include "core/decide.h"

#include <assert.h>

#include "base/buf.h"
#include "core/backoff.h"
#include "core/outage/breaker.h"

enum { REASON_MAX = DECIDE_REASON_MAX - CLASSIFY_TYPE_MAX - 16 };

/* The arguments of one judgement. */
struct judgement {
    const struct policy *policy;
    const struct subject *subject;
    const struct outcome *outcome;
    const struct circumstance *around;
    struct rng *rng;
};

static void die(struct decision *decision, enum cause cause) {
    decision->action = ACTION_DEAD;
    decision->cause = cause;
    decision->exhausted = cause == CAUSE_EXHAUSTED;
}

static void stop(struct decision *decision, enum action action, enum cause cause) {
    decision->action = action;
    decision->cause = cause;
    decision->counted = true;
}

/* `fallback` without a handler left is `retry`. */
static enum verdict effective_verdict(const struct classification *class,
                                      const struct circumstance *around) {
    if (class->verdict == VERDICT_FALLBACK && !around->fallback_left)
        return VERDICT_RETRY;
    if (class->verdict == VERDICT_HALT && around->on_fallback)
        return VERDICT_RETRY;
    return class->verdict;
}

/* A mistake in the configuration (exit 78) concerns every message: no second opinion is needed. */
static bool is_suspect(const struct classification *class) {
    return class->verdict == VERDICT_HALT && class->from_preset &&
           !bytes_is(class->category, "config");
}

/* For an answer that is not a success its category decides (SEMANTICS §15). */
static bool answer_is_sick(struct bytes category) {
    return bytes_is(category, "transient") || bytes_is(category, "rate_limit") ||
           bytes_is(category, "timeout");
}

static bool is_sick(const struct judgement *j, const struct classification *class,
                    enum verdict verdict) {
    const struct outcome *outcome = j->outcome;
    if (outcome->kind == KIND_ANSWER ||
        (outcome->kind == KIND_STATUS && outcome->status / 100 == 2))
        return answer_is_sick(class->category);
    if (class->downstream && verdict == VERDICT_RETRY && outcome->kind == KIND_EXIT)
        return true; /* a worker's uncaught exception about the downstream */
    return breaker_is_failure(j->policy->handler, outcome, verdict);
}

static struct decision begin(const struct judgement *j, const struct classification *class) {
    enum verdict verdict = effective_verdict(class, j->around);
    return (struct decision){
        .verdict = verdict,
        .category = class->category,
        .reason = class->reason,
        .reason_type = class->reason_type,
        .dlq = class->dlq.len ? class->dlq : policy_dlq(j->policy, class->category),
        .rule_name = class->rule_name,
        .breaker_failure = is_sick(j, class, verdict),
    };
}

static bool is_in_outage(const struct circumstance *around) {
    return around->probe && around->outage && !around->others_succeeded;
}

static bool is_crash(const struct judgement *j) {
    if (j->outcome->kind == KIND_SIGNAL)
        return true;
    if (j->outcome->kind == KIND_EXPIRED)
        return j->around->alone && !is_in_outage(j->around);
    return j->outcome->kind == KIND_RESET && j->around->reset_is_crash && !j->around->probe;
}

/* A message dead of resets has the category crash, although each single reset was transient, unless
 * the user's own rule or the handler set the category. */
static void name_crash(const struct judgement *j, struct decision *decision) {
    static const struct bytes crash = {"crash", 5};
    if (j->outcome->kind != KIND_RESET || !bytes_starts(decision->rule_name, BYTES("preset:")))
        return;
    decision->category = crash;
    decision->dlq = policy_dlq(j->policy, crash);
}

/* A terminal verdict of the handler or of the user's own rule is about this message, whatever the
 * downstream's state; a preset cannot distinguish the message from the outage. */
static bool is_failed_probe(const struct judgement *j, const struct classification *class,
                            const struct decision *decision) {
    if (!j->around->probe || !decision->breaker_failure || j->outcome->kind == KIND_SIGNAL)
        return false;
    bool would_stop = decision->verdict == VERDICT_DLQ || decision->verdict == VERDICT_DISCARD;
    bool meant = j->outcome->has_verdict || class->own_rule;
    return decision->verdict == VERDICT_RETRY || (would_stop && !meant);
}

static bool is_expired(const struct judgement *j) {
    int64_t first_ms = j->subject->first_failure_at.ms;
    return first_ms != WALL_NEVER.ms && j->around->now.ms - first_ms >= j->policy->retry.max_age_ms;
}

/* The number of failed calls is bounded, attempts and probes together, this one included. */
static bool is_over_calls(const struct judgement *j) {
    uint32_t limit = policy_attempts(j->policy, j->subject->max_attempts);
    uint64_t calls = (uint64_t)j->subject->attempt + j->subject->probes;
    return calls >= (uint64_t)limit + DECIDE_PROBES_MAX;
}

static bool is_exhausted(const struct judgement *j) {
    return j->subject->attempt >= policy_attempts(j->policy, j->subject->max_attempts) ||
           is_over_calls(j);
}

static void retry_or_stop(const struct judgement *j, struct decision *decision) {
    decision->counted = true;
    if (is_exhausted(j)) {
        die(decision, CAUSE_EXHAUSTED);
        return;
    }
    if (is_expired(j)) {
        die(decision, CAUSE_EXPIRED);
        return;
    }
    decision->action = ACTION_RETRY;
    decision->delay_ms =
        backoff_delay_ms(&j->policy->retry, j->subject->attempt, j->subject->previous_delay_ms,
                         j->outcome->retry_after_ms, j->rng);
}

/* Without evidence of an outage the message may be poison: its number of calls is bounded. */
static void judge_failed_probe(const struct judgement *j, struct decision *decision) {
    decision->action = ACTION_HAND_BACK;
    if (j->around->outage)
        return;
    decision->probed = true;
    if (is_over_calls(j))
        die(decision, CAUSE_EXHAUSTED);
    else if (is_expired(j))
        die(decision, CAUSE_EXPIRED);
}

/* Carries out the verdict, if nothing above has precedence. */
static void carry_out(const struct judgement *j, struct decision *decision,
                      const struct classification *class) {
    assert(decision->verdict < VERDICT_COUNT);
    switch (decision->verdict) {
    case VERDICT_FALLBACK:
        decision->action = ACTION_FALLBACK;
        return;
    case VERDICT_DLQ:
        stop(decision, ACTION_DEAD, class->unclassified ? CAUSE_UNCLASSIFIED : CAUSE_TERMINAL);
        return;
    case VERDICT_DISCARD:
        stop(decision, ACTION_DISCARD, CAUSE_TERMINAL);
        return;
    case VERDICT_HALT:
        decision->suspect = is_suspect(class);
        decision->action = ACTION_HALT;
        if (decision->suspect && j->around->confirming) {
            decision->verdict = VERDICT_DLQ; /* the final verdict of the hand-over */
            stop(decision, ACTION_DEAD, CAUSE_TERMINAL);
        }
        return;
    case VERDICT_RETRY:
    case VERDICT_COUNT:
        break;
    }
    retry_or_stop(j, decision);
}

static struct decision judge_failure(const struct judgement *j,
                                     const struct classification *class) {
    assert(j->outcome->ending == ENDING_FAILED);
    struct decision decision = begin(j, class);
    decision.crashed = decision.verdict != VERDICT_HALT && is_crash(j);
    if (decision.crashed && j->subject->crashes + 1 >= j->policy->poison.crashes) {
        name_crash(j, &decision);
        stop(&decision, ACTION_DEAD, CAUSE_CRASH);
    } else if (is_failed_probe(j, class, &decision) && j->around->others_succeeded)
        retry_or_stop(j, &decision);
    else if (is_failed_probe(j, class, &decision))
        judge_failed_probe(j, &decision);
    else
        carry_out(j, &decision, class);
    return decision;
}

struct decision decide(const struct policy *policy, const struct subject *subject,
                       const struct outcome *outcome, const struct rule_facts *facts,
                       const struct circumstance *around, struct rng *rng) {
    if (outcome->ending == ENDING_INTERRUPTED)
        return (struct decision){.action = ACTION_HAND_BACK};
    if (outcome->ending == ENDING_OK)
        return (struct decision){.action = ACTION_DONE, .counted = true};
    struct rule_subject seen = {
        .outcome = outcome,
        .attempt = subject->attempt,
        .headers = subject->headers,
        .header_count = subject->header_count,
    };
    struct classification class = classify(policy, &seen, facts);
    struct judgement j = {policy, subject, outcome, around, rng};
    return judge_failure(&j, &class);
}

/* No rule applies: the process died before it could report a failure. */
struct decision decide_crash(const struct policy *policy, const struct subject *subject,
                             const struct outcome *outcome, const struct circumstance *around,
                             struct rng *rng) {
    static const struct classification crash = {
        .verdict = VERDICT_RETRY, .category = {"crash", 5}, .reason = {"signal", 6}};
    struct judgement j = {policy, subject, outcome, around, rng};
    return judge_failure(&j, &crash);
}

struct bytes decide_reason(const struct decision *decision, char memory[DECIDE_REASON_MAX]) {
    if (!decision->exhausted && decision->reason_type.len == 0)
        return decision->reason;
    struct buf text;
    buf_init_fixed(&text, memory, DECIDE_REASON_MAX);
    if (decision->exhausted)
        buf_str(&text, DECIDE_EXHAUSTED);
    buf_bytes(&text, bytes_clip(decision->reason, REASON_MAX));
    if (decision->reason_type.len > 0) {
        buf_char(&text, ':');
        buf_bytes(&text, decision->reason_type);
    }
    return buf_view(&text);
}

bool decide_reason_matches(struct bytes reason, struct bytes prefix) {
    struct bytes exhausted = BYTES(DECIDE_EXHAUSTED);
    return bytes_starts(reason, prefix) ||
           (bytes_starts(reason, exhausted) &&
            bytes_starts(bytes_cut(reason, exhausted.len, reason.len), prefix));
}
