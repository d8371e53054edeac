/* Judgement without a worker: core's pure functions behind the public names. */
#include <stdlib.h>
#include <string.h>

#include "lib/library.h"
#include "core/backoff.h"
#include "core/decide.h"
#include "core/envelope/envelope.h"

void impound_rng_seed(struct impound_rng *rng, uint64_t seed) {
    struct rng inner;
    rng_seed(&inner, seed);
    rng->state = inner.state;
}

int64_t impound_backoff_ms(const struct impound_policy *policy, uint32_t attempt,
                           int64_t previous_ms, int64_t retry_after_ms, struct impound_rng *rng) {
    struct rng inner = {rng->state};
    int64_t delay_ms = backoff_delay_ms(&library_policy(policy)->retry, attempt ? attempt : 1,
                                        previous_ms, retry_after_ms, &inner);
    rng->state = inner.state;
    return delay_ms;
}

/* The headers in core's form; at most ENVELOPE_HEADERS_MAX. */
static void take_headers(const struct impound_attempt *attempt, struct rule_header *out) {
    for (size_t i = 0; i < attempt->header_count; i++)
        out[i] = (struct rule_header){bytes_of(attempt->headers[i].name),
                                      bytes_of(attempt->headers[i].value)};
}

/* Members that an older header does not have get their values of IMPOUND_ATTEMPT_INIT. Without a
 * count of probes, a failed probe is attributed to the outage, as it was in those versions. */
static bool take_attempt(const struct impound_attempt *given, struct impound_attempt *out,
                         struct impound_error *error) {
    static const struct impound_attempt init = IMPOUND_ATTEMPT_INIT;
    *out = init;
    if (given->size < sizeof given->size) {
        library_fail(error, STATUS_INVALID, "attempt: its size is not set");
        return false;
    }
    memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
    if (given->size < offsetof(struct impound_attempt, probes) + sizeof given->probes)
        out->outage = 1;
    if (out->attempt == 0 || out->header_count > ENVELOPE_HEADERS_MAX) {
        library_fail(error, STATUS_INVALID,
                     "attempt: its number counts from 1, and it has at most %d headers",
                     ENVELOPE_HEADERS_MAX);
        return false;
    }
    return true;
}

enum impound_status impound_classify(const struct impound_policy *policy,
                                     const struct impound_outcome *outcome,
                                     const struct impound_attempt *attempt,
                                     struct impound_classification *out,
                                     struct impound_error *error) {
    struct rule_header headers[ENVELOPE_HEADERS_MAX];
    struct impound_attempt known;
    struct rule_facts facts;
    if (!take_attempt(attempt, &known, error))
        return IMPOUND_INVALID;
    if (out->size < sizeof out->size)
        return library_fail(error, STATUS_INVALID, "classification: its size is not set");
    if (outcome->outcome.ending != ENDING_FAILED)
        return library_fail(error, STATUS_INVALID, "only a failure can be classified");
    take_headers(&known, headers);
    library_policy_facts(policy, &outcome->outcome, &facts);
    struct rule_subject subject = {&outcome->outcome, known.attempt, headers, known.header_count};
    struct classification class = classify(library_policy(policy), &subject, &facts);
    struct impound_classification given = {.verdict = (enum impound_verdict) class.verdict,
                                           .unclassified = class.unclassified};
    struct bytes dlq = class.dlq.len ? class.dlq : library_policy(policy)->dlq;
    library_text(given.category, sizeof given.category, class.category);
    struct decision told = {.reason = class.reason, .reason_type = class.reason_type};
    char reason[DECIDE_REASON_MAX];
    library_text(given.reason, sizeof given.reason, decide_reason(&told, reason));
    library_text(given.dlq, sizeof given.dlq, dlq);
    library_text(given.rule, sizeof given.rule, class.rule_name);
    library_give(out, out->size, &given, sizeof given);
    return IMPOUND_OK;
}

static struct decision judge(const struct impound_policy *policy, const struct outcome *outcome,
                             const struct impound_attempt *known, struct rng *rng) {
    struct rule_header headers[ENVELOPE_HEADERS_MAX];
    struct rule_facts facts;
    take_headers(known, headers);
    library_policy_facts(policy, outcome, &facts);
    struct subject subject = {.attempt = known->attempt,
                              .max_attempts = known->max_attempts,
                              .crashes = known->crashes,
                              .probes = known->probes,
                              .first_failure_at = {known->first_failure_ms},
                              .previous_delay_ms = known->previous_delay_ms,
                              .headers = headers,
                              .header_count = known->header_count};
    struct circumstance around = {.now = {known->now_ms},
                                  .probe = known->probe != 0,
                                  .outage = known->outage != 0,
                                  .others_succeeded = known->others_succeeded != 0,
                                  .reset_is_crash = !known->breaker_open,
                                  .fallback_left = known->fallback_left != 0};
    return decide(library_policy(policy), &subject, outcome, &facts, &around, rng);
}

static bool stops(const struct decision *decision) {
    return decision->action == ACTION_DEAD || decision->action == ACTION_DISCARD;
}

static void tell_decision(const struct decision *decision, struct impound_decision *out) {
    char reason[DECIDE_REASON_MAX];
    *out = (struct impound_decision){
        .action = (enum impound_action)decision->action,
        .verdict = (enum impound_verdict)decision->verdict,
        .cause = stops(decision) ? (enum impound_cause)decision->cause : IMPOUND_CAUSE_NONE,
        .counted = decision->counted,
        .crashed = decision->crashed,
        .breaker_failure = decision->breaker_failure,
        .probed = decision->probed,
        .delay_ms = decision->delay_ms,
        .suspect = decision->action == ACTION_HALT && decision->suspect,
    };
    library_text(out->reason, sizeof out->reason, decide_reason(decision, reason));
    library_text(out->category, sizeof out->category, decision->category);
    library_text(out->dlq, sizeof out->dlq, stops(decision) ? decision->dlq : BYTES_NONE);
    library_text(out->rule, sizeof out->rule, decision->rule_name);
}

enum impound_status impound_decide(const struct impound_policy *policy,
                                   const struct impound_outcome *outcome,
                                   const struct impound_attempt *attempt, struct impound_rng *rng,
                                   struct impound_decision *out, struct impound_error *error) {
    struct impound_attempt known;
    struct impound_decision given;
    if (!take_attempt(attempt, &known, error))
        return IMPOUND_INVALID;
    if (out->size < sizeof out->size)
        return library_fail(error, STATUS_INVALID, "decision: its size is not set");
    struct rng inner = {rng->state};
    struct decision decision = judge(policy, &outcome->outcome, &known, &inner);
    rng->state = inner.state;
    tell_decision(&decision, &given);
    library_give(out, out->size, &given, sizeof given);
    return IMPOUND_OK;
}
