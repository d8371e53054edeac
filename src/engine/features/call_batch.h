/* batch: several messages in one hand-over (SEMANTICS §7).
 *
 *   queue->batching ─▶ batch ─▶ handler ─▶ each message is judged ─▶ decided
 *        (this turn)     ▲                         │
 *                        └── halves ── set aside ◀─┘ to blame, or only beside one that is
 *
 * A hand-over that failed as a whole blames all its messages. Where that would end them, or add a
 * crash, it is split: halves are handed over again, within the same attempt, until a message is
 * alone and what is said is said of it. One that fails for the downstream's sake (a retry) fails
 * every message once, unsplit. The breaker hears one word of each hand-over, and none of one that
 * is split: its parts speak for it, so that poison among the healthy opens nothing, and an outage
 * ends as few messages as it would one by one. */
#ifndef ENGINE_CALL_BATCH_H
#define ENGINE_CALL_BATCH_H

#include "engine/state.h"

void call_batch_add(struct attempt *attempt); /* joins one that call_batch_send hands over */
void call_batch_send(struct queue *queue);    /* all that were added */
void call_batch_cancel(struct queue *queue);  /* the drain is over */
/* True: it may be innocent, and is called again with fewer beside it before anything is decided. */
bool call_batch_sets_aside(struct attempt *attempt, const struct decision *decision);
/* Whether the breaker is to hear of this outcome: of a hand-over it hears once. */
bool call_batch_speaks(struct attempt *attempt, const struct decision *decision);
void call_batch_leave(struct attempt *attempt); /* what becomes of it is decided */
void call_batch_drop(struct queue *queue);      /* forgets those whose answer will never be read */

#endif
