/* call_batch: several messages in one hand-over (SEMANTICS §7).
 *
 *   queue->batching ─▶ batch ─▶ handler ─▶ each message is judged ─▶ decided
 *        (this turn)     ▲                         │
 *                        └── halves ── set aside ◀─┘ suspected of the failure, or beside a suspect
 *
 * A hand-over that failed as a whole is a failure of all its messages. Where that would make
 * letters of them, or count a crash, the batch is split: its halves are handed over again, within
 * the same attempt, until a message is alone in its hand-over and the outcome is certainly its own.
 * A failure of the downstream (a retry) counts once for every message, and the batch is not split.
 * The breaker gets one outcome for each hand-over and none for a hand-over that is split, because
 * its halves report their own outcomes: one poison message among healthy ones does not open the
 * breaker, and an outage dead-letters no more messages than it would without batches. */
#ifndef ENGINE_CALL_BATCH_H
#define ENGINE_CALL_BATCH_H

#include "engine/state.h"

/* The attempt joins a batch that call_batch_send hands over. */
void call_batch_add(struct attempt *attempt);
void call_batch_send(struct queue *queue); /* hands over all attempts that were added */
/* The drain is over: interrupts the batches in flight. */
void call_batch_cancel(struct queue *queue);
/* True: the failure may be due to another message of the batch, so the message is handed over again
 * in a smaller batch before anything is decided. */
bool call_batch_sets_aside(struct attempt *attempt, const struct decision *decision);
/* Whether the breaker counts this outcome: each hand-over counts once. */
bool call_batch_speaks(struct attempt *attempt, const struct decision *decision);
/* The message has been decided and leaves its batch. */
void call_batch_leave(struct attempt *attempt);
void call_batch_drop(struct queue *queue); /* frees batches whose answer will never be read */

#endif
