/* order: what `order: key` asks of the engine. The store lets one message of a key be taken at a
 * time and none behind a letter that closes it (port/store.h); here is who closes a key, and what
 * becomes of those that wait behind it beyond the limit (SEMANTICS §8). */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include "engine/state.h"

/* Whether this letter, once it is one, keeps its key waiting. */
bool order_closes_key(const struct queue *queue, const struct envelope *letter);
/* Those beyond `blocked_limit` follow their head into its DLQ, a bounded number at a time. */
void order_feed(struct queue *queue);

#endif
