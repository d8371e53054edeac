/* Functions on a queue that the other files of the engine use. */
#include "engine/state.h"

void queue_visit(struct queue *queue) {
    if (list_empty(&queue->visiting))
        list_push_back(&queue->engine->visiting, &queue->visiting);
}

const struct engine_dlq *queue_dlq(const struct queue *queue, struct bytes name) {
    for (size_t i = 0; i < queue->rules.dlq_count; i++)
        if (bytes_eq(queue->rules.dlqs[i].name, name))
            return &queue->rules.dlqs[i];
    return NULL;
}

bool queue_leases(const struct queue *queue) {
    return queue->handler_count == 0;
}

/* A broker's message that was not stored goes back to the broker. */
void queue_give_back(struct queue *queue, struct message *held, struct mono due) {
    struct store *store = queue->engine->store;
    if (held->seq == 0)
        queue->broker->vtable->hand_back(queue->broker, held,
                                         (struct instant){queue->engine->now.wall, due});
    else
        store->vtable->give_back(store, held, due);
}

const char *queue_state_text(enum queue_state state) {
    static const char *const words[] = {"running", "paused", "halted"};
    return words[state];
}

const char *attempt_result_text(enum attempt_result result) {
    static const char *const words[RESULT_COUNT] = {
        "ok", "retry", "dlq", "discard", "halt", "interrupted", "probe_failed", "duplicate"};
    return words[result];
}

void queue_facts_changed(struct queue *queue) {
    if (list_empty(&queue->facts_changed))
        list_push_back(&queue->engine->facts, &queue->facts_changed);
}
