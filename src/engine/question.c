/* What is known of a failure before it is judged: which rules' patterns match, and what jq says to
 * the rules that ask it (SEMANTICS 10.3). jq answers from another process, so the flight may wait
 * here. */
#include <string.h>

#include "base/log.h"
#include "engine/answer.h"
#include "engine/body_room.h"
#include "engine/facts.h"
#include "engine/reply.h"
#include "engine/rule_question.h"

/* The flight waits until all questions are answered. */
static void answered(struct flight *flight, size_t index, bool matched) {
    if (matched)
        rule_facts_set(&flight->facts, index);
    if (--flight->jq_pending == 0)
        judge_decide(flight);
}

static void ask(struct flight *flight, size_t index) {
    struct queue *queue = flight->queue;
    struct buf input;
    struct err err;
    if (body_room_reload(flight, &err) != STATUS_OK) {
        queue->jq_errors++;
        log_about(LOG_WARN, QUEUE_ABOUT(queue), "a jq rule was passed over: %s", err.text);
        return;
    }
    buf_init_heap(&input, JQ_INPUT_MAX);
    envelope_encode(&flight->held->envelope, ENVELOPE_WITH_BODY, flight->held->body, &input);
    flight->jq_pending++;
    rule_question_ask(flight, &flight->policy->rules[index], index, input, answered);
}

static struct rule_subject subject_of(const struct flight *flight) {
    const struct envelope *envelope = &flight->held->envelope;
    return (struct rule_subject){.outcome = &flight->outcome,
                                 .attempt = envelope_tries(envelope) + 1,
                                 .headers = envelope->headers,
                                 .header_count = envelope->header_count};
}

/* Only rules that could still win are asked about: their other conditions hold. */
static void gather_facts(struct flight *flight) {
    struct queue *queue = flight->queue;
    const struct policy *policy = flight->policy;
    struct rule_subject subject = subject_of(flight);
    memset(flight->facts.bits, 0, sizeof flight->facts.bits);
    flight->jq_pending = 1; /* keeps an early answer from deciding before all were asked */
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (!facts_could_match(queue->facts, policy, i, &subject))
            continue;
        if (rule->when.jq.len && queue->engine->options.jq)
            ask(flight, i);
        else if (!rule->when.jq.len)
            rule_facts_set(&flight->facts, i);
    }
    flight->jq_pending--;
}

/* A reload in between changes nothing for what is being judged: the rules that jq was asked about
 * are the rules that decide. */
void question_outcome(struct flight *flight) {
    if (!flight->bundle && answer_waits(flight, &flight->outcome)) {
        answer_judge(flight, &flight->outcome, question_outcome);
        return;
    }
    if (reply_publishes(flight))
        return;
    bool by_answer = rule_facts_answer(&flight->facts) < RULES_MAX;
    if (!by_answer)
        flight->policy = flight->queue->rules.policy;
    if (flight->outcome.ending == ENDING_FAILED)
        envelope_fail(&flight->held->envelope, &flight->outcome, flight->queue->engine->now.wall);
    if (flight->outcome.ending == ENDING_FAILED && !by_answer)
        gather_facts(flight);
    if (flight->jq_pending == 0)
        judge_decide(flight);
}
