/* answer: judges the answer of a successful hand-over by the queue's `classify.answers` (SEMANTICS
 * §15). An answer that a rule matches is a failure of KIND_ANSWER, with that rule as its verdict.
 * The answers that the ai-api preset knows are judged by the http handler itself (struct call,
 * reads_ai).
 *
 *   answered ──▶ judged ──▶ a success: published, kept, recorded
 *                  └─────▶ a failure, judged as any other
 *
 * Answers of leases and of the library's callbacks are not judged. */
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "engine/state.h"

/* Fills in the part of the call that the handler must return for the judgement, and drops the state
 * of the call before. */
void answer_ask(struct attempt *attempt);
/* Whether `outcome`, of the attempt's call or of the batch that it leads, must be judged first. */
bool answer_waits(const struct attempt *attempt, const struct outcome *outcome);
/* Judges the outcome, which waits for jq where a rule has a program; then calls `then`, at once or
 * in a later turn. By then *outcome, which must stay in place, may have become a failure. */
void answer_judge(struct attempt *attempt, struct outcome *outcome,
                  void (*then)(struct attempt *attempt));

#endif
