/* receive: messages that a queue gets from its source, which were never handed over before.
 *
 * The built-in queue's messages are in the store, and this adds nothing. A broker delivers messages
 * that are not in the store yet:
 *
 *   received ─┬─▶ a duplicate of a held message: acknowledged   (SEMANTICS 1.3)
 *             ├─▶ a letter that went to its origin: it again    (origin.h)
 *             ├─▶ delivered too often: a letter, unattempted    (SEMANTICS 5.3)
 *             ├─▶ handed over, and put into the store only if it fails
 *             └─▶ put into the store first, and acknowledged at its source, where order,
 *                 idempotency or leases need it there; then treated as one of the built-in queue */
#ifndef ENGINE_RECEIVE_H
#define ENGINE_RECEIVE_H

#include "engine/state.h"

/* Begins to fetch, once it is known whether messages are wanted. */
void receive_begin(struct queue *queue);
/* Takes up to `max` messages that may be handed over now. */
size_t receive_messages(struct queue *queue, struct message **out, size_t max);
struct mono receive_next_wake(struct queue *queue);
/* While the breaker is open: when it may be probed, or when fetching for the probe may begin.
 * `may_take`: a message that was never attempted could be handed over, if there were one. */
struct mono receive_probe_wake(struct queue *queue, bool may_take);
/* Starts or stops fetching at the broker, when the need for messages has changed. */
void receive_want(struct queue *queue);

#endif
