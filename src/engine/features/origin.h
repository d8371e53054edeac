/* origin: letters that are sent back to their source (`to: origin`) and are received from it again.
 *
 *   replaying, to_origin ──▶ published ──▶ resolved (replayed) ──▶ settled
 *            ▲       │            └─ not now: it waits in the store, and is published again
 *            │       └─ never: pending_review again, with the reason
 *   came back│
 *            └── the queue's own source delivers it: the same letter, durable, then acknowledged
 *                there
 *
 * A kill -9 after the publication and before its commit publishes the letter twice, with the same
 * two headers (core/comeback.h): the second copy that comes back is acknowledged as a duplicate.
 *
 * Letters may belong to a queue that is in no configuration (any more), because they were adopted.
 * Such a queue has no broker and no handler here; it only sends its letters to their origin. */
#ifndef ENGINE_ORIGIN_H
#define ENGINE_ORIGIN_H

#include "engine/state.h"

/* Publishes a letter to its origin. Takes ownership of it. */
void origin_send(struct queue *queue, struct message *held_take);
/* Whether a received message was a letter that came back, and has been dealt with. */
bool origin_comes_back(struct queue *queue, struct message *held);
/* The letter was changed by another operation first: the received message is taken out of the
 * attempt and examined again soon. */
void origin_put_off(struct attempt *attempt);
void origin_free(struct attempt *attempt); /* frees the attempt's part of this feature */

/* The broker of queues that are in no configuration. */
extern struct broker origin_no_broker;
void origin_feed(struct queue *queue);
struct mono origin_next_wake(const struct queue *queue);

#endif
