/* expiry: a queue's `expire`. A message that was not handed over for the first time within that
 * time of its arrival is dead-lettered unattempted. The age is checked when the message would be
 * handed over: while the queue is paused or halted, or the breaker is open, an expired message
 * waits like any other. Replays and retries do not expire in this way. */
#ifndef ENGINE_EXPIRY_H
#define ENGINE_EXPIRY_H

#include "engine/state.h"

/* True: the message has expired, and this call took ownership of it. */
bool expiry_takes(struct queue *queue, struct message *held);

#endif
