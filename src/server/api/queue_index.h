/* queue_index: the queues by name, with their numbers in the store. All queues are added before the
 * engine runs and never change, so they are read once; a push then needs no lock of the engine, and
 * an answer that is written on the engine's own thread can still name them. */
#ifndef SERVER_QUEUE_INDEX_H
#define SERVER_QUEUE_INDEX_H

#include "engine/engine.h"

struct queue_index;

struct queue_index *queue_index_new(struct engine *engine, struct store *store);
void queue_index_free(struct queue_index *index);
bool queue_index_find(const struct queue_index *index, struct bytes name, uint32_t *number);
/* For "did you mean"; empty when no name is near. */
struct bytes queue_index_nearest(const struct queue_index *index, struct bytes name);

#endif
