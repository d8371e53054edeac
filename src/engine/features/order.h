/* order: the engine's part of `order: key`. The store lets one message of a key be taken at a time,
 * and none behind a letter that closes the key (port/store.h). This file decides which letters
 * close a key, and dead-letters the messages behind a closed key beyond the limit (SEMANTICS §8).
 */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include "engine/state.h"

/* Whether this letter will close its key, so that later messages of the key wait. */
bool order_closes_key(const struct queue *queue, const struct envelope *letter);
/* Messages beyond `blocked_limit` go to the DLQ of their key's head, a bounded number at a time. */
void order_feed(struct queue *queue);

#endif
