#include "engine/answer.h"

#include <string.h>

#include "base/json.h"
#include "engine/facts.h"
#include "engine/reply.h"
#include "engine/rule_question.h"

/* One answer that is being judged; in the flight's arena. */
struct answering {
    struct outcome *outcome;
    void (*then)(struct flight *flight);
    size_t pending; /* questions to jq, and one while they are asked */
};

/* ---- what is asked for ---- */

static bool has_preset(const struct policy *policy, enum preset preset) {
    for (size_t i = 0; i < policy->preset_count; i++)
        if (policy->presets[i] == preset)
            return true;
    return false;
}

void answer_ask(struct flight *flight) {
    const struct policy *policy = flight->queue->rules.policy;
    const struct handler_vtable *handler = flight_handler(flight)->handler->vtable;
    bool judged = policy->answer_count > 0 && !handler->in_process;
    flight->answer_judged = !judged;
    flight->facts = (struct rule_facts){0};
    flight->keeps_answer = judged || reply_wants_answer(flight);
    flight->call.reads_ai = strcmp(handler->kind, "http") == 0 && has_preset(policy, PRESET_AI_API);
    flight->call.wants_answer = flight->keeps_answer || flight->call.reads_ai;
}

bool answer_waits(const struct flight *flight, const struct outcome *outcome) {
    bool answered = outcome->ending == ENDING_OK ||
                    (outcome->ending == ENDING_FAILED && outcome->kind == KIND_ANSWER);
    return answered && flight->call.wants_answer && !flight->answer_judged;
}

/* ---- judging ---- */

static struct rule_answer answer_of(const struct outcome *outcome) {
    return (struct rule_answer){.status = outcome->answer_status,
                                .text = bytes_cut(outcome->answer, 0, OUTCOME_ANSWER_MAX),
                                .headers = outcome->answer_headers,
                                .header_count = outcome->answer_header_count};
}

/* The beginning of the answer is what people read of it, unless it said itself what is wrong. */
static void fail(struct outcome *outcome) {
    bool said = outcome->ending == ENDING_FAILED;
    outcome->ending = ENDING_FAILED;
    outcome->kind = KIND_ANSWER;
    outcome->status = outcome->answer_status;
    if (said)
        return;
    struct bytes text = bytes_trim(bytes_clip(outcome->answer, OUTCOME_MESSAGE_MAX));
    outcome->error_type = BYTES(OUTCOME_ANSWER);
    outcome->error_message = text.len == 0         ? BYTES(OUTCOME_ANSWER_EMPTY)
                             : bytes_is_utf8(text) ? text
                                                   : BYTES("the answer is not text");
}

static void finish(struct flight *flight) {
    struct answering *answering = flight->answering;
    flight->answering = NULL;
    flight->answer_judged = true;
    if (rule_facts_answer(&flight->facts) < RULES_MAX)
        fail(answering->outcome);
    answering->then(flight);
}

static void answered(struct flight *flight, size_t index, bool matched) {
    if (matched)
        rule_facts_set_answer(&flight->facts, index);
    if (--flight->answering->pending == 0)
        finish(flight);
}

/* The text is the outcome's, which lives as long as the flight. */
static void ask(struct flight *flight, size_t index, struct bytes text) {
    struct buf input = {.ptr = (char *)text.ptr, .len = text.len};
    flight->answering->pending++;
    rule_question_ask(flight, &flight->policy->answers[index], index, input, answered);
}

/* The parsed answer is one JSON value that came whole; of anything else jq rules do not match. */
static bool is_json(const struct outcome *outcome) {
    struct json value;
    return outcome->answer.len <= OUTCOME_ANSWER_MAX &&
           json_parse(outcome->answer, &value, NULL) == STATUS_OK;
}

/* Behind a rule that has matched no other can win. */
static void look(struct flight *flight, const struct outcome *outcome) {
    const struct policy *policy = flight->policy;
    struct rule_answer answer = answer_of(outcome);
    for (size_t i = 0; i < policy->answer_count; i++) {
        if (!facts_answer_matches(flight->queue->facts, policy, i, &answer))
            continue;
        if (policy->answers[i].when.jq.len == 0) {
            rule_facts_set_answer(&flight->facts, i);
            return;
        }
        if (flight->queue->engine->options.jq && is_json(outcome))
            ask(flight, i, answer.text);
    }
}

/* A reload in between changes nothing: the rules that jq was asked about are those that decide. */
void answer_judge(struct flight *flight, struct outcome *outcome,
                  void (*then)(struct flight *flight)) {
    struct answering *answering = arena_alloc(&flight->held->arena, sizeof *answering);
    *answering = (struct answering){.outcome = outcome, .then = then, .pending = 1};
    flight->answering = answering;
    flight->policy = flight->queue->rules.policy;
    look(flight, outcome);
    if (--answering->pending == 0)
        finish(flight);
}
