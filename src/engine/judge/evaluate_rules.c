/* Gathers the facts about a failure before it is judged: which rules' patterns match, and the
 * results of the rules' jq programs (SEMANTICS 10.3). jq runs in another process, so the attempt
 * may wait here. */
#include <string.h>

#include "base/log.h"
#include "engine/attempt/answer.h"
#include "engine/attempt/body_room.h"
#include "engine/judge/facts.h"
#include "engine/feature.h"
#include "engine/judge/rule_jq.h"

/* The attempt waits until all programs have answered. */
static void answered(struct attempt *attempt, size_t index, bool matched) {
    if (matched)
        rule_facts_set(&attempt->facts, index);
    if (--attempt->jq_pending == 0)
        judge_decide(attempt);
}

static void ask(struct attempt *attempt, size_t index) {
    struct queue *queue = attempt->queue;
    struct buf input;
    struct err err;
    if (body_room_reload(attempt, &err) != STATUS_OK) {
        queue->jq_errors++;
        log_about(LOG_WARN, QUEUE_ABOUT(queue), "a jq rule was passed over: %s", err.text);
        return;
    }
    buf_init_heap(&input, JQ_INPUT_MAX);
    envelope_encode(&attempt->held->envelope, ENVELOPE_WITH_BODY, attempt->held->body, &input);
    attempt->jq_pending++;
    rule_jq_ask(attempt, &attempt->policy->rules[index], index, input, answered);
}

static struct rule_subject subject_of(const struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    return (struct rule_subject){.outcome = &attempt->outcome,
                                 .attempt = envelope_tries(envelope) + 1,
                                 .headers = envelope->headers,
                                 .header_count = envelope->header_count};
}

/* jq is run only for rules that could still win, because their other conditions hold. */
static void gather_facts(struct attempt *attempt) {
    struct queue *queue = attempt->queue;
    const struct policy *policy = attempt->policy;
    struct rule_subject subject = subject_of(attempt);
    memset(attempt->facts.bits, 0, sizeof attempt->facts.bits);
    /* Keeps an early answer from deciding before all programs were started. */
    attempt->jq_pending = 1;
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (!facts_could_match(queue->facts, policy, i, &subject))
            continue;
        if (rule->when.jq.len && queue->engine->options.jq)
            ask(attempt, i);
        else if (!rule->when.jq.len)
            rule_facts_set(&attempt->facts, i);
    }
    attempt->jq_pending--;
}

/* A reload in between has no effect on this failure: it is judged by the rules that jq evaluated.
 */
void evaluate_rules(struct attempt *attempt) {
    if (!attempt->batch && answer_waits(attempt, &attempt->outcome)) {
        answer_judge(attempt, &attempt->outcome, evaluate_rules);
        return;
    }
    if (FEATURES_ANY(before_judging, attempt))
        return;
    bool by_answer = rule_facts_answer(&attempt->facts) < RULES_MAX;
    if (!by_answer)
        attempt->policy = attempt->queue->rules.policy;
    if (attempt->outcome.ending == ENDING_FAILED)
        envelope_fail(&attempt->held->envelope, &attempt->outcome,
                      attempt->queue->engine->now.wall);
    if (attempt->outcome.ending == ENDING_FAILED && !by_answer)
        gather_facts(attempt);
    if (attempt->jq_pending == 0)
        judge_decide(attempt);
    else
        attempt_to(attempt, ATTEMPT_ASKING);
}
