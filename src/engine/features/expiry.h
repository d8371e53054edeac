/* expiry: a queue's `expire`. A message that was not handed over for the first time within that
 * time of its arrival is dead-lettered instead, unattempted. It is looked at when its turn comes:
 * while the queue is paused or halted, or the breaker is open, it waits as any other. Replays and
 * retries do not expire so. */
#ifndef ENGINE_EXPIRY_H
#define ENGINE_EXPIRY_H

#include "engine/state.h"

/* True: the message has expired, and is taken. */
bool expiry_takes(struct queue *queue, struct message *held);

#endif
