/* queue_facts: a queue's data that survives a restart, beside its messages: its state and the
 * reason, the budget's peak, and the facts of its features, such as the counts of the flood guard,
 * refused messages that were dead-lettered in the last minutes, and graceful stops. Kept in the
 * store as JSON. Private to the engine. */
#ifndef ENGINE_QUEUE_FACTS_H
#define ENGINE_QUEUE_FACTS_H

#include "engine/state.h"

/* The budget's peak is written only at intervals … */
void queue_facts_save_peak(struct queue *queue);
void queue_facts_save_last(struct queue *queue); /* … and before the engine stops */
void queue_facts_put(struct queue *queue, struct buf *out);
void queue_facts_load(struct queue *queue);

#endif
