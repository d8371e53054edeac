/* What is known of a failure before it is judged: which rules' patterns match, and what jq says to
 * the rules that ask it (SEMANTICS 10.3). jq answers from another process, so the flight may wait
 * here. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/answer.h"
#include "engine/body_room.h"
#include "engine/facts.h"
#include "engine/reply.h"
#include "engine/tracing.h"

/* One question to jq about one rule; the flight waits until all of them are answered. */
struct question {
    struct engine_post post;
    struct jq_job job;
    struct flight *flight;
    size_t rule; /* its place among the rules that the flight is judged by */
    bool matched;
    bool failed;
    struct err err;
    struct buf input;
};

static void open_answer(struct engine *engine, struct engine_post *post) {
    struct question *question = CONTAINER_OF(post, struct question, post);
    struct flight *flight = question->flight;
    struct queue *queue = flight->queue;
    (void)engine;
    if (question->matched)
        rule_facts_set(&flight->facts, question->rule);
    if (question->failed) {
        queue->jq_errors++;
        struct log_about about = tracing_about(flight);
        log_about(LOG_WARN, &about, "rule %.*s: jq: %s",
                  BYTES_ARG(flight->policy->rules[question->rule].name), question->err.text);
    }
    buf_free(&question->input);
    free(question);
    if (--flight->jq_pending == 0)
        judge_decide(flight);
}

static void on_done(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                    const struct err *err) {
    struct question *question = CONTAINER_OF(job, struct question, job);
    (void)output;
    question->matched = status == STATUS_OK && truthy;
    question->failed = status != STATUS_OK;
    if (question->failed && err)
        question->err = *err;
    engine_post(question->flight->queue->engine, &question->post);
}

static void ask(struct flight *flight, size_t rule) {
    struct queue *queue = flight->queue;
    struct jq *jq = queue->engine->options.jq;
    struct err err;
    if (body_room_reload(flight, &err) != STATUS_OK) {
        queue->jq_errors++;
        log_about(LOG_WARN, QUEUE_ABOUT(queue), "a jq rule was passed over: %s", err.text);
        return;
    }
    struct question *question = memory_new(sizeof *question);
    question->flight = flight;
    question->rule = rule;
    question->post.open = open_answer;
    buf_init_heap(&question->input, JQ_INPUT_MAX);
    envelope_encode(&flight->held->envelope, ENVELOPE_WITH_BODY, flight->held->body,
                    &question->input);
    question->job = (struct jq_job){.program = flight->policy->rules[rule].when.jq,
                                    .input = buf_view(&question->input),
                                    .done = on_done};
    flight->jq_pending++;
    jq->vtable->start(jq, &question->job);
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
