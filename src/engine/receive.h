/* receive: what a queue is given that was never handed over.
 *
 * The built-in queue's messages are in the store, and this adds nothing. A server's broker gives
 * messages that nobody holds yet:
 *
 *   received ─┬─▶ held already: settled, not doubled           (SEMANTICS 1.3)
 *             ├─▶ a letter that went to its origin: it again    (origin.h)
 *             ├─▶ delivered too often: a letter, unattempted    (SEMANTICS 5.3)
 *             ├─▶ handed over, and put into the store only if it fails
 *             └─▶ put into the store first, and settled at its source, where order, idempotency or
 *                 whoever fetches needs it there; it then goes like one of the built-in queue */
#ifndef ENGINE_RECEIVE_H
#define ENGINE_RECEIVE_H

#include "engine/state.h"

/* Begins to fetch, once it is known whether anything is wanted. */
void receive_begin(struct queue *queue);
/* Up to `max` that may be handed over now. */
size_t receive_messages(struct queue *queue, struct message **out, size_t max);
struct mono receive_next_wake(struct queue *queue);
/* While the breaker is open: when it may be probed, or fetching for that may begin. `may_take`: a
 * message that was never attempted could be handed over, were there one. */
struct mono receive_probe_wake(struct queue *queue, bool may_take);
/* Tells the broker whether messages are wanted, when that has changed. */
void receive_want(struct queue *queue);

#endif
