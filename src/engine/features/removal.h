/* removal: a person buries or discards a message that waits or is leased (SEMANTICS 4.8), or has a
 * message that waits for its retry tried now.
 *
 *   queued, pending_retry, blocked by its key ──▶ taken from the store ──┐
 *   leased ──▶ the lease is revoked: a later answer to it is a CONFLICT ─┴─▶ a letter, recorded as
 *                                                                            any other
 *   at its handler ──▶ refused, with the time that it has left
 *
 *   a retry: pending_retry ──▶ taken from the store ──▶ pending_retry, due now. The breaker, the
 *   budget, a pause and the order of its key hold it back as they do any message that is due. A
 *   message in any other state is refused. */
#ifndef ENGINE_REMOVAL_H
#define ENGINE_REMOVAL_H

#include "engine/state.h"

void removal_open(struct queue *queue, struct engine_request *request);
/* The commit is durable. */
void removal_settled(struct attempt *attempt);
/* The commit failed, or waits for a sink: it is submitted later, and the request is answered so
 * now. */
void removal_postponed(struct attempt *attempt, const struct err *err);
/* The attempt is about to be freed. If the engine is freed meanwhile, the request gets no answer.
 */
void removal_drop(struct attempt *attempt);

#endif
