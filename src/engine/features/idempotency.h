/* idempotency: a key that succeeded once is not run again while it is remembered (SEMANTICS §9).
 *
 *   not seen ──▶ runs ──▶ succeeded: the store keeps the key, in the commit that ends the message
 *                │  ╲
 *                │   ──▶ failed: the key is free again, and the next one that waited runs
 *                └ others with the key wait: given back to the store, their numbers noted here
 *
 * What succeeded is known to the store alone; what runs, and who waits for it, is known here alone.
 * Dying between a handler's answer and its commit, we run it again: at least once. */
#ifndef ENGINE_IDEMPOTENCY_H
#define ENGINE_IDEMPOTENCY_H

#include "engine/state.h"

struct idempotency *idempotency_new(void);
void idempotency_free(struct idempotency *idempotency); /* after the queue's attempts */

/* Whether the message may be handed over; its key is the attempt's then. False: the attempt is
 * taken, since it waits for another one with its key, or is a duplicate and on its way to its end.
 */
bool idempotency_admit(struct attempt *attempt);
/* Of an attempt that was handed over in an earlier life: its key is its own still. */
void idempotency_claim(struct attempt *attempt);
/* Its key, if it has one, is free for the next. */
void idempotency_release(struct attempt *attempt);
/* The next one that waited for a key that is free now; NULL: none. */
struct message *idempotency_next(struct queue *queue);
/* It succeeded: the commit that ends it says so of its key. */
void idempotency_keep(struct attempt *attempt);

#endif
