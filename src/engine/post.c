/* Posts from other threads and files to the engine's thread, and the lookup of a queue. */
#include "engine/state.h"

void engine_post(struct engine *engine, struct engine_post *post) {
    mailbox_post(&engine->mailbox, &post->mail);
}

struct queue *engine_queue(struct engine *engine, struct bytes name) {
    struct map_node *node = map_first(&engine->by_name, bytes_hash(name));
    for (; node; node = map_next(node)) {
        struct queue *queue = CONTAINER_OF(node, struct queue, by_name);
        if (bytes_eq(queue->name, name))
            return queue;
    }
    return NULL;
}

/* Only marks the queue; the engine's thread does the work. */
void engine_wake(struct queue *queue) {
    struct engine *engine = queue->engine;
    pthread_mutex_lock(&engine->wake_mutex);
    if (list_empty(&queue->woken))
        list_push_back(&engine->woken, &queue->woken);
    pthread_mutex_unlock(&engine->wake_mutex);
    mailbox_ring(&engine->mailbox);
}
