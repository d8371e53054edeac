/* origin: letters that go back to where they came from (`to: origin`), and come again from there.
 *
 *   replaying, to_origin ──▶ published ──▶ resolved (replayed) ──▶ settled
 *            ▲       │            └─ not now: it waits in the store, and is published again
 *            │       └─ never: pending_review again, with why
 *   came back│
 *            └── the queue's own source gives it: it is the same letter, durable, then settled
 * there
 *
 * A kill -9 after it was published and before that is recorded publishes it twice, with the same
 * two headers (core/comeback.h): the second copy that comes back is settled, not doubled.
 *
 * Letters may be of a queue that is in no configuration any more, or never was, because they were
 * adopted. Such a queue has no broker and no handler here; all that it does is this. */
#ifndef ENGINE_ORIGIN_H
#define ENGINE_ORIGIN_H

#include "engine/state.h"

/* Publishes a letter that is to go to its origin. Takes it. */
void origin_send(struct queue *queue, struct message *held_take);
/* Whether a message that was received is dealt with: it is a letter that comes back. */
bool origin_comes_back(struct queue *queue, struct message *held);
/* Somebody else changed the letter first: what came is looked at again soon. Takes it out of the
 * attempt. */
void origin_put_off(struct attempt *attempt);
void origin_free(struct attempt *attempt); /* what it has of this */

/* The queues that are not ours. */
extern struct broker origin_no_broker;
void origin_feed(struct queue *queue);
struct mono origin_next_wake(const struct queue *queue);

#endif
