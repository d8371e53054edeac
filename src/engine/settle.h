/* settle: what follows when what became of an attempt is durable: only now is its source told, are
 * those who asked answered, and is the attempt freed. */
#ifndef ENGINE_SETTLE_H
#define ENGINE_SETTLE_H

#include "engine/state.h"

/* Its commit is durable, or it needs none. The attempt may be gone afterwards. */
void settle_attempt(struct attempt *attempt);
/* Its id is held by another message: it is submitted again under a new one. It is not lost for its
 * id. */
void settle_renamed(struct attempt *attempt);
/* Answers whoever reported it. */
void settle_report(struct attempt *attempt, enum status status);
/* It is not submitted any more: frees it. */
void settle_let_go(struct attempt *attempt);

#endif
