#include "engine/judge/rule_jq.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/features/tracing/tracing.h"

struct rule_question {
    struct engine_post post;
    struct jq_job job;
    struct attempt *attempt;
    const struct rule *rule;
    size_t index;
    rule_jq_then *then;
    bool matched, failed;
    struct err err;
    struct buf input;
};

static void count_failure(const struct rule_question *question) {
    struct log_about about = attempt_about(question->attempt);
    question->attempt->queue->jq_errors++;
    log_about(LOG_WARN, &about, "rule %.*s: jq: %s", BYTES_ARG(question->rule->name),
              question->err.text);
}

static void open_question(struct engine *engine, struct engine_post *post) {
    struct rule_question *question = CONTAINER_OF(post, struct rule_question, post);
    struct rule_question asked = *question;
    (void)engine;
    if (question->failed)
        count_failure(question);
    buf_free(&question->input);
    free(question);
    asked.then(asked.attempt, asked.index, asked.matched);
}

static void on_done(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                    const struct err *err) {
    struct rule_question *question = CONTAINER_OF(job, struct rule_question, job);
    (void)output;
    question->matched = status == STATUS_OK && truthy;
    question->failed = status != STATUS_OK;
    if (question->failed && err)
        question->err = *err;
    engine_post(question->attempt->queue->engine, &question->post);
}

void rule_jq_ask(struct attempt *attempt, const struct rule *rule, size_t index, struct buf input,
                 rule_jq_then *then) {
    struct jq *jq = attempt->queue->engine->options.jq;
    struct rule_question *question = memory_new(sizeof *question);
    *question = (struct rule_question){.post = {.open = open_question},
                                       .attempt = attempt,
                                       .rule = rule,
                                       .index = index,
                                       .then = then,
                                       .input = input};
    question->job = (struct jq_job){
        .program = rule->when.jq, .input = buf_view(&question->input), .done = on_done};
    jq->vtable->start(jq, &question->job);
}
