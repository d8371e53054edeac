/* Creates and frees a queue. */
#include <stdlib.h>

#include "base/memory.h"
#include "engine/judge/facts.h"
#include "engine/feature.h"

static void init_lists(struct queue *queue) {
    list_init(&queue->attempts);
    list_init(&queue->batching);
    list_init(&queue->batches);
    list_init(&queue->polls);
    list_init(&queue->visiting);
    list_init(&queue->woken);
    list_init(&queue->serving);
    list_init(&queue->rousing);
    list_init(&queue->in_room_line);
    list_init(&queue->facts_changed);
}

enum status queue_new(struct engine *engine, const struct engine_queue_options *options,
                      struct queue **out, struct err *err) {
    struct facts *facts;
    enum status status = facts_new(options->rules.policy, &facts, err);
    if (status != STATUS_OK)
        return status;
    struct queue *queue = memory_new(sizeof *queue);
    queue->engine = engine;
    queue->name = (struct bytes){bytes_dup(options->name), options->name.len};
    queue->rules = options->rules;
    queue->facts = facts;
    queue->broker = options->broker;
    queue->group = options->group;
    queue->handlers = options->handlers;
    queue->compensate = options->compensate;
    queue->handler_count = options->handler_count;
    queue->connections = memory_array(options->handler_count + 1, sizeof *queue->connections);
    queue->lease_reply = options->lease_reply;
    queue->mirrors = options->mirrors;
    queue->mirror_count = options->mirror_count;
    for (size_t i = 0; i < options->handler_count; i++)
        queue->in_process |= options->handlers[i].handler->vtable->in_process;
    queue->number = engine->store->vtable->queue_number(engine->store, options->name);
    engine->store->vtable->set_order(engine->store, queue->number, options->rules.order);
    init_lists(queue);
    FEATURES_TELL(begin, queue);
    *out = queue;
    return STATUS_OK;
}

bool queue_rests(const struct queue *queue) {
    LIST_EACH(node, &queue->attempts) {
        const struct attempt *attempt = CONTAINER_OF(node, struct attempt, link);
        if (attempt->state != ATTEMPT_POSTPONED && attempt->state != ATTEMPT_LEASED)
            return false;
    }
    return true;
}

void queue_free(struct queue *queue) {
    FEATURES_TELL(forget, queue);
    while (!list_empty(&queue->attempts))
        attempt_free(CONTAINER_OF(queue->attempts.next, struct attempt, link));
    map_free(&queue->by_id);
    FEATURES_TELL(end, queue);
    facts_free(queue->facts);
    free(queue->connections);
    free((void *)(uintptr_t)queue->name.ptr);
    free(queue);
}
