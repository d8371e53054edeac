#include "engine/attempt/body_room.h"

#include <stdint.h>

static void on_freed(void *arg) {
    struct engine *engine = arg;
    mailbox_ring(&engine->mailbox);
}

void body_room_begin(struct engine *engine) {
    list_init(&engine->room_line);
    body_memory_listen(engine->options.memory, on_freed, engine);
}

void body_room_end(struct engine *engine) {
    body_memory_listen(engine->options.memory, NULL, NULL);
}

static bool has_room(const struct engine *engine) {
    return body_memory_has_room(engine->options.memory, BODY_MEMORY_MESSAGES);
}

size_t body_room(struct queue *queue) {
    const struct engine *engine = queue->engine;
    bool turn = queue->room_turn || list_empty(&engine->room_line);
    if (turn && has_room(engine))
        return SIZE_MAX;
    queue->room_refused = true;
    return queue->bodies == 0 ? 1 : 0;
}

void body_room_fed(struct queue *queue) {
    struct engine *engine = queue->engine;
    bool refused = queue->room_refused;
    queue->room_turn = queue->room_refused = false;
    if (!refused || !list_empty(&queue->in_room_line))
        return;
    list_push_back(&engine->room_line, &queue->in_room_line);
    body_memory_want(engine->options.memory);
}

bool body_room_waits(const struct engine *engine) {
    return !list_empty(&engine->room_line) && has_room(engine);
}

void body_room_serve(struct engine *engine) {
    if (list_empty(&engine->room_line))
        return;
    body_memory_want(engine->options.memory); /* before the check, so that no wake-up is missed */
    if (!has_room(engine))
        return;
    struct list *node = list_pop_front(&engine->room_line);
    struct queue *queue = CONTAINER_OF(node, struct queue, in_room_line);
    queue->room_turn = true;
    queue_visit(queue);
}

/* ---- bodies of attempts ---- */

void body_room_enter(struct attempt *attempt) {
    message_count_body(attempt->held, attempt->queue->engine->options.memory);
    attempt->has_body = attempt->held->body.len > 0;
    attempt->queue->bodies += attempt->has_body;
}

void body_room_leave(struct attempt *attempt) {
    attempt->queue->bodies -= attempt->has_body;
    attempt->has_body = false;
}

void body_room_drop(struct attempt *attempt) {
    message_drop_body(attempt->held);
    if (attempt->held->body_dropped)
        body_room_leave(attempt);
}

enum status body_room_reload(struct attempt *attempt, struct err *err) {
    struct store *store = attempt->queue->engine->store;
    struct message *held = attempt->held, *again = NULL;
    if (!held->body_dropped)
        return STATUS_OK;
    enum status status = letters_get_seq(store->letters, held->seq, &again, err);
    if (status != STATUS_OK)
        return status;
    if (message_set_body(held, again->body))
        held->body_dropped = false;
    else
        status = err_set(err, STATUS_BUSY, "there is no memory for a body of %zu bytes",
                         again->body.len);
    message_free(again);
    if (status == STATUS_OK)
        body_room_enter(attempt);
    return status;
}
