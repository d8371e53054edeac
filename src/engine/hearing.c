#include "engine/hearing.h"

#include "base/memory.h"
#include "engine/queue_facts.h"

bool hearing_stands_in(struct queue *queue, uint64_t seq) {
    if (seq < queue->unheard_from || seq >= queue->first_seq || map_first(&queue->stood_in, seq))
        return false;
    map_insert(&queue->stood_in, memory_new(sizeof(struct map_node)), seq);
    return true;
}

void hearing_stored(struct queue *queue, struct store_held *held, uint64_t seq) {
    if (!held->nameless || !queue->broker->vtable->heard_below)
        return;
    held->stored_as = seq;
    if (queue->stored_below <= seq)
        queue->stored_below = seq + 1;
}

void hearing_note(struct queue *queue) {
    if (queue->heard_below >= queue->stored_below)
        return;
    uint64_t below = queue->broker->vtable->heard_below(queue->broker);
    if (below <= queue->heard_below)
        return;
    queue->heard_below = below;
    queue_facts_changed(queue);
}

bool hearing_waits(const struct queue *queue) {
    struct broker_health health;
    if (queue->heard_below >= queue->stored_below)
        return false;
    queue->broker->vtable->health(queue->broker, &health);
    return health.connected;
}
