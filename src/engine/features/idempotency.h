/* idempotency: a key that succeeded once is not run again while it is remembered (SEMANTICS §9).
 *
 *   not seen ──▶ runs ──▶ succeeded: the store keeps the key, in the commit that ends the message
 *                │  ╲
 *                │   ──▶ failed: the key is free again, and the next message that waited for it
 * runs └ other messages with the key wait: given back to the store, their numbers kept here
 *
 * Keys that succeeded are in the store only; keys that are running, and the messages that wait for
 * them, are in memory only. After a crash between a handler's answer and its commit the message
 * runs again: the guarantee is at least once. */
#ifndef ENGINE_IDEMPOTENCY_H
#define ENGINE_IDEMPOTENCY_H

#include "engine/state.h"

struct idempotency *idempotency_new(void);
/* To be called after the queue's attempts are freed. */
void idempotency_free(struct idempotency *idempotency);

/* Whether the message may be handed over; if so, the attempt holds its key. False: this call took
 * ownership of the attempt, because it waits for another message with its key or is a duplicate
 * that is about to end. */
bool idempotency_admit(struct attempt *attempt);
/* Takes the key again for an attempt that was handed over before a restart. */
void idempotency_claim(struct attempt *attempt);
/* Frees the attempt's key, if it has one, for the next message. */
void idempotency_release(struct attempt *attempt);
/* The next message that waited for a key that is free now; NULL: none. */
struct message *idempotency_next(struct queue *queue);
/* The attempt succeeded: records its key as done in the commit that ends the message. */
void idempotency_keep(struct attempt *attempt);

#endif
