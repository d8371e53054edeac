/* rule_jq: evaluates the jq program of a rule, for rules on failures (evaluate_rules.c) and on
 * answers (answer.c). jq runs in another process: the attempt waits. */
#ifndef ENGINE_RULE_JQ_H
#define ENGINE_RULE_JQ_H

#include "engine/state.h"

/* Called in a later turn, on the engine's thread. A program that failed does not match; the failure
 * was counted and logged. */
typedef void rule_jq_then(struct attempt *attempt, size_t index, bool matched);

/* `rule` is at `index` of the list that `then` uses, and lives as long as the attempt's policy.
 * Takes ownership of `input`. */
void rule_jq_ask(struct attempt *attempt, const struct rule *rule, size_t index,
                 struct buf input_take, rule_jq_then *then);

#endif
