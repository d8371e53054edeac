#include "app/what_if/rejudge.h"

#include <semaphore.h>
#include <stdlib.h>

#include "base/json/json.h"
#include "base/memory.h"
#include "engine/judge/facts.h"
#include "jq/jq_pool.h"

struct rejudge {
    const struct config *config;
    struct facts **facts; /* one for each queue */
    struct jq *jq;        /* NULL: the file has no jq program */
    rejudge_fetch *fetch;
    void *arg;
    struct rng rng;
    uint64_t jq_errors;
};

enum status rejudge_new(const struct config *config, rejudge_fetch *fetch, void *arg,
                        struct rejudge **out, struct err *err) {
    struct rejudge *rejudge = memory_new(sizeof *rejudge);
    *rejudge = (struct rejudge){.config = config, .fetch = fetch, .arg = arg};
    rejudge->facts = memory_array(config->queue_count, sizeof *rejudge->facts);
    rng_seed(&rejudge->rng, 1); /* affects only delays, which are not shown */
    *out = rejudge;
    for (size_t i = 0; i < config->queue_count; i++)
        if (facts_new(&config->queues[i].policy, &rejudge->facts[i], err) != STATUS_OK)
            return err->status;
    if (config->programs)
        rejudge->jq = jq_pool_new(&(struct jq_pool_options){
            .program = "/proc/self/exe", .helpers = 1, .timeout_ms = config->jq_timeout_ms});
    return STATUS_OK;
}

void rejudge_free(struct rejudge *rejudge) {
    if (!rejudge)
        return;
    for (size_t i = 0; i < rejudge->config->queue_count; i++)
        facts_free(rejudge->facts[i]);
    if (rejudge->jq)
        rejudge->jq->vtable->free(rejudge->jq);
    free(rejudge->facts);
    free(rejudge);
}

uint64_t rejudge_jq_errors(const struct rejudge *rejudge) {
    return rejudge->jq_errors;
}

/* ---- facts ---- */

struct rejudge_answer {
    struct jq_job job;
    sem_t given;
    bool truthy, failed;
};

static void on_answer(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                      const struct err *err) {
    (void)output, (void)err;
    struct rejudge_answer *answer = job->arg;
    answer->failed = status != STATUS_OK;
    answer->truthy = status == STATUS_OK && truthy;
    sem_post(&answer->given);
}

static bool ask(struct rejudge *rejudge, struct bytes program, struct bytes input) {
    struct rejudge_answer answer = {.job = {.program = program, .input = input, .done = on_answer}};
    answer.job.arg = &answer;
    sem_init(&answer.given, 0, 0);
    rejudge->jq->vtable->start(rejudge->jq, &answer.job);
    while (sem_wait(&answer.given) != 0) {
    }
    sem_destroy(&answer.given);
    rejudge->jq_errors += answer.failed;
    return answer.truthy;
}

static enum status gather(struct rejudge *rejudge, size_t queue, const struct envelope *envelope,
                          const struct rule_subject *subject, struct rule_facts *facts,
                          struct err *err) {
    const struct policy *policy = &rejudge->config->queues[queue].policy;
    struct bytes json = BYTES_NONE;
    *facts = (struct rule_facts){0};
    for (size_t i = 0; i < policy->rule_count; i++) {
        struct bytes program = policy->rules[i].when.jq;
        if (!facts_could_match(rejudge->facts[queue], policy, i, subject))
            continue;
        if (program.len && !json.ptr &&
            rejudge->fetch(rejudge->arg, envelope->letter_id, envelope->queue, &json, err) !=
                STATUS_OK)
            return err->status;
        if (!program.len || ask(rejudge, program, json))
            rule_facts_set(facts, i);
    }
    return STATUS_OK;
}

/* Only the beginning of the answer is stored, as the letter's message. Rules on a header do not
 * match. */
static bool matches_answer(struct rejudge *rejudge, size_t queue, const struct envelope *envelope,
                           struct rule_facts *facts) {
    const struct policy *policy = &rejudge->config->queues[queue].policy;
    bool was_empty = bytes_is(envelope->error_message, OUTCOME_ANSWER_EMPTY);
    struct rule_answer answer = {.status = envelope->status,
                                 .text = was_empty ? BYTES_NONE : envelope->error_message};
    struct json value;
    for (size_t i = 0; i < policy->answer_count; i++) {
        struct bytes program = policy->answers[i].when.jq;
        if (!facts_answer_matches(rejudge->facts[queue], policy, i, &answer))
            continue;
        if (program.len && (json_parse(answer.text, &value, NULL) != STATUS_OK ||
                            !ask(rejudge, program, answer.text)))
            continue;
        rule_facts_set_answer(facts, i);
        return true;
    }
    return false;
}

static bool is_judged_answer(const struct envelope *envelope) {
    return envelope->kind == KIND_ANSWER && bytes_is(envelope->error_type, OUTCOME_ANSWER);
}

/* ---- judgement ---- */

/* A letter does not store that the handler's own verdict decided, but its rule's name shows it. */
static void add_handlers_word(const struct envelope *envelope, struct outcome *outcome) {
    if (!bytes_is(envelope->rule, "handler"))
        return;
    outcome->has_verdict = true;
    outcome->verdict = envelope->state == STATE_DISCARDED  ? VERDICT_DISCARD
                       : envelope->cause == CAUSE_TERMINAL ? VERDICT_DLQ
                       : envelope->cause == CAUSE_REPORTED ? VERDICT_DLQ
                                                           : VERDICT_RETRY;
    outcome->reason = envelope->reason;
    if (bytes_starts(outcome->reason, BYTES(DECIDE_EXHAUSTED)))
        outcome->reason =
            bytes_cut(outcome->reason, sizeof DECIDE_EXHAUSTED - 1, outcome->reason.len);
}

static struct outcome outcome_of(const struct envelope *envelope) {
    struct outcome outcome = {.ending = ENDING_FAILED,
                              .kind = envelope->kind,
                              .status = envelope->status,
                              .exit_code = envelope->exit_code,
                              .signal = envelope->signal,
                              .error_type = envelope->error_type,
                              .error_message = envelope->error_message,
                              .stack_trace = envelope->stack_trace,
                              .retry_after_ms = envelope->retry_after_ms};
    add_handlers_word(envelope, &outcome);
    return outcome;
}

/* True if the last hand-over was a probe that failed without evidence of an outage. */
static bool died_as_probe(const struct envelope *envelope) {
    bool bounded = envelope->cause == CAUSE_EXHAUSTED || envelope->cause == CAUSE_EXPIRED;
    return bounded && envelope->probes > 0 && envelope->history_count > 0 &&
           !envelope->history[envelope->history_count - 1].counted;
}

/* The letter's state before its last attempt. The file's limit of attempts applies, because the one
 * in the letter is from the rules under which it died; a report may have a limit of its own. */
static struct subject subject_of(const struct envelope *envelope) {
    bool died_of_it = envelope->cause == CAUSE_CRASH && envelope->crashes > 0;
    bool probe = died_as_probe(envelope);
    return (struct subject){
        .attempt = probe                ? envelope->attempts + 1
                   : envelope->attempts ? envelope->attempts
                                        : 1,
        .probes = envelope->probes - probe,
        .max_attempts = envelope->kind == KIND_REPORTED ? envelope->max_attempts : 0,
        .crashes = envelope->crashes - died_of_it,
        .first_failure_at = envelope->replays ? envelope->replayed_at : envelope->first_failure_at,
        .headers = envelope->headers,
        .header_count = envelope->header_count};
}

enum status rejudge_letter(struct rejudge *rejudge, const struct envelope *envelope,
                           enum rejudge_kind *kind, struct decision *out, struct err *err) {
    const struct config *config = rejudge->config;
    const struct config_queue *queue = config_find_queue(config, envelope->queue);
    struct rule_facts facts;
    if (!queue) {
        *kind = REJUDGE_NO_QUEUE;
        return STATUS_OK;
    }
    if (!envelope->failed) {
        *kind = REJUDGE_NO_FAILURE;
        return STATUS_OK;
    }
    struct outcome outcome = outcome_of(envelope);
    struct subject subject = subject_of(envelope);
    struct rule_subject seen = {&outcome, subject.attempt, subject.headers, subject.header_count};
    if (gather(rejudge, (size_t)(queue - config->queues), envelope, &seen, &facts, err) !=
        STATUS_OK)
        return err->status;
    if (is_judged_answer(envelope) &&
        !matches_answer(rejudge, (size_t)(queue - config->queues), envelope, &facts)) {
        *kind = REJUDGE_NO_FAILURE;
        return STATUS_OK;
    }
    bool probe = died_as_probe(envelope);
    struct circumstance around = {.now = envelope->last_failure_at,
                                  .probe = probe,
                                  .reset_is_crash = envelope->cause == CAUSE_CRASH,
                                  .alone = envelope->suspect};
    *kind = REJUDGED;
    *out = decide(&queue->policy, &subject, &outcome, &facts, &around, &rejudge->rng);
    return STATUS_OK;
}
