/* rule_question: asks jq whether a rule's program matches, for rules on failures (question.c) and
 * on answers (answer.c). jq answers from another process: the flight waits. */
#ifndef ENGINE_RULE_QUESTION_H
#define ENGINE_RULE_QUESTION_H

#include "engine/state.h"

/* In a later turn, on the engine's thread. A program that failed does not match; it was counted and
 * logged. */
typedef void rule_question_then(struct flight *flight, size_t index, bool matched);

/* `rule` stands at `index` of the list that `then` knows, and lives as long as the flight's policy.
 * Takes `input`. */
void rule_question_ask(struct flight *flight, const struct rule *rule, size_t index,
                       struct buf input_take, rule_question_then *then);

#endif
