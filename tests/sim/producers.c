/* Those who push: all sorts of messages, some of them twice, and healthy ones when they are needed.
 */
#include <stdio.h>
#include <string.h>

#include "fake_broker.h"
#include "engine/state.h"
#include "sim_disk.h"
#include "world.h"

struct push {
    struct store_commit commit;
    struct store_op op;
    struct envelope envelope;
    struct world *world;
    struct sim_message *message;
};

/* The store forgets pushes that were under way when it crashed; they are one allocation each, and
 * kept here so that nothing leaks. */
static void on_pushed(struct store_commit *commit, enum status status) {
    struct push *push = CONTAINER_OF(commit, struct push, commit);
    world_say(push->world, "push %s: %s", push->message->id, status_name(status));
    if (status == STATUS_OK) {
        push->message->acknowledged = true;
        push->message->acknowledged_at = push->world->now.mono;
        push->world->commits_ok++;
    } else if (push->message->submissions == 1 && !sim_disk_is_dead(push->world->disk)) {
        push->message->rejected = true; /* a dead machine refuses nobody */
        push->message->rejected_after = push->world->commits_ok;
    }
}

/* Once the broker has it, its producer is done. */
static void push_to_server(struct world *world, struct sim_message *message) {
    message->submissions++;
    message->acknowledged = true;
    fake_server_push(world->server, message->id, NULL, bytes_of(message->id));
}

static void submit_push(struct world *world, struct sim_message *message) {
    if (message->queue == WORLD_SERVER_QUEUE) {
        push_to_server(world, message);
        return;
    }
    struct bytes queue = world_queue_name(message->queue);
    struct push *push = arena_alloc(&world->pushes, sizeof *push);
    uint32_t number = world->store->vtable->queue_number(world->store, queue);
    push->world = world;
    push->message = message;
    push->envelope = (struct envelope){.id = bytes_of(message->id),
                                       .queue = queue,
                                       .content_type = BYTES("text/plain"),
                                       .source = BYTES("{\"kind\":\"builtin\"}"),
                                       .size = strlen(message->id),
                                       .state = STATE_QUEUED,
                                       .retry_after_ms = -1,
                                       .created_at = world->now.wall};
    if (message->key && message->queue == WORLD_ORDERED_QUEUE)
        push->envelope.key = bytes_of(world->key_names[message->key]);
    if (message->key && message->queue == WORLD_ONCE_QUEUE) {
        push->envelope.headers = &world->key_headers[message->key];
        push->envelope.header_count = 1;
    }
    snprintf(push->envelope.content_hash, sizeof push->envelope.content_hash, "%064x",
             (unsigned)(message - world->messages));
    if (rng_below(&world->rng, 8) == 0) {
        push->envelope.delay_ms = 1 + (int64_t)rng_below(&world->rng, 5000);
        push->envelope.next_attempt_at.ms = world->now.wall.ms + push->envelope.delay_ms;
    }
    push->op = (struct store_op){.kind = STORE_PUT,
                                 .queue = number,
                                 .envelope = &push->envelope,
                                 .body = bytes_of(message->id),
                                 .check_id = true};
    push->commit = (struct store_commit){.ops = &push->op, .count = 1, .done = on_pushed};
    message->submissions++;
    world->store->vtable->submit(world->store, &push->commit);
}

void producers_push(struct world *world, size_t queue, enum script script) {
    if (world->message_count == WORLD_MESSAGES_MAX)
        return;
    struct sim_message *message = &world->messages[world->message_count++];
    snprintf(message->id, sizeof message->id, "m%zu", world->message_count);
    message->queue = queue;
    message->script = script;
    message->key = (uint32_t)rng_below(&world->rng, WORLD_KEYS + 1);
    message->flaky_calls = 1 + (uint32_t)rng_below(&world->rng, 3);
    submit_push(world, message);
}

/* One at a time: with a second one, who is to blame for which death cannot be told from outside. */
static bool killer_is_about(struct world *world) {
    for (size_t i = 0; i < world->message_count; i++) {
        const struct sim_message *message = &world->messages[i];
        if (message->script == SCRIPT_KILLER && !message->rejected &&
            (!message->held || message->state != STATE_PENDING_REVIEW))
            return true;
    }
    return false;
}

/* Only in the callback queue can a message kill us; there, a reset would be a crash of its own. */
static bool script_fits(struct world *world, enum script script, size_t queue) {
    if (script == SCRIPT_KILLER)
        return queue == WORLD_CALLBACK_QUEUE && !killer_is_about(world);
    return script != SCRIPT_CRASHER || queue != WORLD_CALLBACK_QUEUE;
}

void producers_push_new(struct world *world) {
    bool good = rng_below(&world->rng, 3) > 0;
    size_t queue = rng_below(&world->rng, WORLD_QUEUES);
    enum script script = (enum script)rng_below(&world->rng, SCRIPT_COUNT);
    if (world->refusing && rng_below(&world->rng, 2))
        script = SCRIPT_REFUSED;
    producers_push(world, queue, good || !script_fits(world, script, queue) ? SCRIPT_GOOD : script);
}

/* A producer that did not hear the answer sends the same again. */
void producers_push_again(struct world *world) {
    if (world->message_count == 0)
        return;
    struct sim_message *message = &world->messages[rng_below(&world->rng, world->message_count)];
    bool keeps_place = message->queue != WORLD_ORDERED_QUEUE; /* later is another place there */
    if (!message->acknowledged && !message->rejected && !message->calls && keeps_place)
        submit_push(world, message);
}

/* With nothing but failures of many messages to look at, poison and an outage are the same; healthy
 * traffic tells them apart. A few that fail come to their end by themselves. */
void producers_go_on(struct world *world) {
    for (size_t i = 0; i < WORLD_QUEUES; i++) {
        const struct breaker *breaker = &world->engine->queues[i]->breaker;
        bool outage = breaker->state != BREAKER_CLOSED && breaker_is_outage(breaker, 0);
        for (size_t n = 0; n < 2 * WORLD_CONCURRENCY && outage; n++)
            producers_push(world, i, SCRIPT_GOOD);
    }
}
