#include "engine/attempt/answer.h"

#include <string.h>

#include "base/json/json.h"
#include "engine/judge/facts.h"
#include "engine/judge/rule_jq.h"

/* One answer that is being judged; in the attempt's arena. */
struct answering {
    struct outcome *outcome;
    void (*then)(struct attempt *attempt);
    size_t pending; /* jq programs that are not answered yet, plus one while they are started */
};

/* ---- the call ---- */

static bool has_preset(const struct policy *policy, enum preset preset) {
    for (size_t i = 0; i < policy->preset_count; i++)
        if (policy->presets[i] == preset)
            return true;
    return false;
}

void answer_ask(struct attempt *attempt) {
    const struct policy *policy = attempt->queue->rules.policy;
    const struct handler_vtable *handler = attempt_handler(attempt)->handler->vtable;
    bool judged = policy->answer_count > 0 && !handler->in_process;
    attempt->judges_answer = judged;
    attempt->facts = (struct rule_facts){0};
    attempt->notes_answer = judged || attempt_wants_answer(attempt);
    attempt->call.reads_ai =
        strcmp(handler->kind, "http") == 0 && has_preset(policy, PRESET_AI_API);
    attempt->call.wants_answer = attempt->notes_answer || attempt->call.reads_ai;
}

bool answer_waits(const struct attempt *attempt, const struct outcome *outcome) {
    bool answered = outcome->ending == ENDING_OK ||
                    (outcome->ending == ENDING_FAILED && outcome->kind == KIND_ANSWER);
    return answered && attempt->judges_answer && attempt->state < ATTEMPT_ANSWERED;
}

/* ---- judging ---- */

static struct rule_answer answer_of(const struct outcome *outcome) {
    return (struct rule_answer){.status = outcome->answer_status,
                                .text = bytes_cut(outcome->answer, 0, OUTCOME_ANSWER_MAX),
                                .headers = outcome->answer_headers,
                                .header_count = outcome->answer_header_count};
}

/* The outcome's text is the beginning of the answer, unless the answer stated an error itself. */
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

static void finish(struct attempt *attempt) {
    struct answering *answering = attempt->answering;
    attempt->answering = NULL;
    if (rule_facts_answer(&attempt->facts) < RULES_MAX)
        fail(answering->outcome);
    answering->then(attempt);
}

static void answered(struct attempt *attempt, size_t index, bool matched) {
    if (matched)
        rule_facts_set_answer(&attempt->facts, index);
    if (--attempt->answering->pending == 0)
        finish(attempt);
}

/* The text belongs to the outcome, which lives as long as the attempt. */
static void ask(struct attempt *attempt, size_t index, struct bytes text) {
    struct buf input = {.ptr = (char *)text.ptr, .len = text.len};
    attempt->answering->pending++;
    rule_jq_ask(attempt, &attempt->policy->answers[index], index, input, answered);
}

/* jq rules match only an answer that is complete and one JSON value. */
static bool is_json(const struct outcome *outcome) {
    struct json value;
    return outcome->answer.len <= OUTCOME_ANSWER_MAX &&
           json_parse(outcome->answer, &value, NULL) == STATUS_OK;
}

/* A rule that matches without jq ends the search, because no later rule can win. */
static void look(struct attempt *attempt, const struct outcome *outcome) {
    const struct policy *policy = attempt->policy;
    struct rule_answer answer = answer_of(outcome);
    for (size_t i = 0; i < policy->answer_count; i++) {
        if (!facts_answer_matches(attempt->queue->facts, policy, i, &answer))
            continue;
        if (policy->answers[i].when.jq.len == 0) {
            rule_facts_set_answer(&attempt->facts, i);
            return;
        }
        if (attempt->queue->engine->options.jq && is_json(outcome))
            ask(attempt, i, answer.text);
    }
}

/* A reload in between has no effect: the answer is judged by the rules that jq evaluated. */
void answer_judge(struct attempt *attempt, struct outcome *outcome,
                  void (*then)(struct attempt *attempt)) {
    struct answering *answering = arena_alloc(&attempt->held->arena, sizeof *answering);
    *answering = (struct answering){.outcome = outcome, .then = then, .pending = 1};
    attempt->answering = answering;
    attempt_to(attempt, ATTEMPT_ANSWERED);
    attempt->policy = attempt->queue->rules.policy;
    look(attempt, outcome);
    if (--answering->pending == 0)
        finish(attempt);
}
