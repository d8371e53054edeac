/* answer: judges the answer of a successful hand-over by the queue's `classify.answers` (SEMANTICS
 * §15). An answer that a rule matches is a failure of KIND_ANSWER, and that rule is its verdict.
 * What the ai-api preset knows of answers is read by the http handler itself (struct call,
 * reads_ai).
 *
 *   answered ──▶ judged ──▶ a success: published, kept, recorded
 *                  └─────▶ a failure, judged as any other
 *
 * Answers of leases and of the library's callbacks are not judged. */
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "engine/state.h"

/* What is asked of the handler for the call that is about to begin; also forgets what is known of
 * the call before. */
void answer_ask(struct attempt *attempt);
/* Whether `outcome`, of the attempt's call or of the batch that it leads, is to be judged first. */
bool answer_waits(const struct attempt *attempt, const struct outcome *outcome);
/* Judges it, which may take a while where jq is asked; then calls `then`, at once or in a later
 * turn. By then *outcome, which must stay in place, may have become a failure. */
void answer_judge(struct attempt *attempt, struct outcome *outcome,
                  void (*then)(struct attempt *attempt));

#endif
