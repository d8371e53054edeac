/* queue_facts: what of a queue outlives us, beside its messages: its state, why, the budget's peak,
 * what its source has heard of, the counts of the flood guard, refused messages that were
 * dead-lettered in the last minutes, and graceful stops. Kept by the store as JSON. The engine's
 * own. */
#ifndef ENGINE_QUEUE_FACTS_H
#define ENGINE_QUEUE_FACTS_H

#include "engine/state.h"

/* The budget's peak is worth a write only now and then … */
void queue_facts_save_peak(struct queue *queue);
void queue_facts_save_last(struct queue *queue); /* … and before we leave */
void queue_facts_put(struct queue *queue, struct buf *out);
void queue_facts_load(struct queue *queue);

#endif
