/* removal: a person buries or discards a message that waits or is leased (SEMANTICS 4.8), or has
 * one that waits for its retry tried now.
 *
 *   queued, pending_retry, blocked by its key ──▶ taken from the store ──┐
 *   leased ──▶ the lease is revoked: a later answer to it is a CONFLICT ─┴─▶ a letter, recorded as
 *                                                                            any other
 *   at its handler ──▶ refused, with its time left
 *
 *   a retry: pending_retry ──▶ taken from the store ──▶ pending_retry, due now. The breaker, the
 *   budget, a pause and the order of its key hold it as they hold what is due. All others are
 *   refused.
 */
#ifndef ENGINE_REMOVAL_H
#define ENGINE_REMOVAL_H

#include "engine/state.h"

void removal_open(struct queue *queue, struct engine_request *request);
/* Its commit is durable. */
void removal_settled(struct attempt *attempt);
/* Its commit failed, or waits for a sink: it is submitted later, and whoever asked is told so now.
 */
void removal_postponed(struct attempt *attempt, const struct err *err);
/* The attempt is about to be freed. An engine that is freed in the middle answers nobody. */
void removal_drop(struct attempt *attempt);

#endif
