/* settle: the steps after an attempt's result is durable: only then is its source acknowledged, are
 * requests answered, and is the attempt freed. */
#ifndef ENGINE_SETTLE_H
#define ENGINE_SETTLE_H

#include "engine/state.h"

/* The commit is durable, or none is needed. The attempt may be freed afterwards. */
void settle_attempt(struct attempt *attempt);
/* The id is held by another message: the attempt is submitted again under a new id, so the message
 * is not lost. */
void settle_renamed(struct attempt *attempt);
/* Answers the request that reported it. */
void settle_report(struct attempt *attempt, enum status status);
/* The attempt is not submitted any more: frees it. */
void settle_let_go(struct attempt *attempt);

#endif
