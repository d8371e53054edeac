/* intake: what a queue is given that was never handed over.
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
#ifndef ENGINE_INTAKE_H
#define ENGINE_INTAKE_H

#include "engine/state.h"

bool intake_is_server(const struct queue *queue); /* its broker's messages are not in the store */
/* Begins to fetch, once it is known whether anything is wanted. */
void intake_begin(struct queue *queue);
/* Up to `max` that may be handed over now. */
size_t intake_receive(struct queue *queue, struct message **out, size_t max);
struct mono intake_next_wake(struct queue *queue);
/* While the breaker is open: when it may be probed, or fetching for that may begin. `may_take`: a
 * message that was never attempted could be handed over, were there one. */
struct mono intake_probe_wake(struct queue *queue, bool may_take);
/* Tells the broker whether messages are wanted, when that has changed. */
void intake_want(struct queue *queue);
/* It is not in the store, which it came from a broker without, or is there as an old letter. */
bool intake_is_fresh(const struct flight *flight);
/* It is held already: its broker may forget it. */
void intake_settle_copy(struct queue *queue, struct message *held);
/* Back to its broker, with nothing recorded. Frees the flight. */
void intake_return(struct flight *flight);
/* Before it is put into the store: what a push would have noted. */
void intake_complete(struct message *held);
/* Its source gave it, and the store holds its id: whether it is another message, rather than a
 * redelivery of the one that is held (SEMANTICS 1.3). */
bool intake_is_another(const struct flight *flight);
/* Its id is another message's: it gets one of its own, and the one that it had is a header. */
void intake_rename(struct flight *flight);

#endif
