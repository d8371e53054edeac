/* rule_question: asks jq whether a rule's program matches, for rules on failures (question.c) and
 * on answers (answer.c). jq answers from another process: the attempt waits. */
#ifndef ENGINE_RULE_JQ_H
#define ENGINE_RULE_JQ_H

#include "engine/state.h"

/* In a later turn, on the engine's thread. A program that failed does not match; it was counted and
 * logged. */
typedef void rule_jq_then(struct attempt *attempt, size_t index, bool matched);

/* `rule` stands at `index` of the list that `then` knows, and lives as long as the attempt's
 * policy. Takes `input`. */
void rule_jq_ask(struct attempt *attempt, const struct rule *rule, size_t index,
                 struct buf input_take, rule_jq_then *then);

#endif
