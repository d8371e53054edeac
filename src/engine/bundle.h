/* bundle: several messages in one hand-over (SEMANTICS §7).
 *
 *   queue->bundling ─▶ bundle ─▶ handler ─▶ each message is judged ─▶ decided
 *        (this turn)     ▲                         │
 *                        └── halves ── set aside ◀─┘ to blame, or only beside one that is
 *
 * A hand-over that failed as a whole blames all its messages. Where that would end them, or add a
 * crash, it is split: halves are handed over again, within the same attempt, until a message is
 * alone and what is said is said of it. One that fails for the downstream's sake (a retry) fails
 * every message once, unsplit. The breaker hears one word of each hand-over, and none of one that
 * is split: its parts speak for it, so that poison among the healthy opens nothing, and an outage
 * ends as few messages as it would one by one. */
#ifndef ENGINE_BUNDLE_H
#define ENGINE_BUNDLE_H

#include "engine/state.h"

void bundle_add(struct flight *flight);  /* joins one that bundle_send hands over */
void bundle_send(struct queue *queue);   /* all that were added */
void bundle_cancel(struct queue *queue); /* the drain is over */
/* True: it may be innocent, and is called again with fewer beside it before anything is decided. */
bool bundle_sets_aside(struct flight *flight, const struct decision *decision);
/* Whether the breaker is to hear of this outcome: of a hand-over it hears once. */
bool bundle_speaks(struct flight *flight, const struct decision *decision);
void bundle_leave(struct flight *flight); /* what becomes of it is decided */
void bundle_drop(struct queue *queue);    /* forgets those whose answer will never be read */

#endif
