/* People. Letters of the ordered queue they resolve and replay, the oldest of a key first; of any
 * queue they bury and discard messages that wait, and resume it when it was halted. */
#include "world.h"

static bool is_open_letter(const struct sim_message *message) {
    return message->queue == WORLD_ORDERED_QUEUE && message->held &&
           message->state == STATE_PENDING_REVIEW;
}

/* An older letter of its key waits for people. */
static bool is_behind_another(const struct world *world, const struct sim_message *letter) {
    for (const struct sim_message *older = world->messages; older < letter; older++) {
        if (older->key == letter->key && is_open_letter(older))
            return true;
    }
    return false;
}

struct decision {
    struct store_commit commit;
    struct store_op op;
    struct sim_message *message;
    struct message *held;
};

static void on_decided(struct store_commit *commit, enum status status) {
    (void)commit;
    (void)status;
}

static void submit(struct world *world, struct decision *decision) {
    decision->op.queue = world->store->vtable->queue_number(
        world->store, world_queue_name(decision->message->queue));
    decision->op.seq = decision->held->seq;
    decision->op.from = 1u << STATE_PENDING_REVIEW;
    decision->commit = (struct store_commit){.ops = &decision->op, .count = 1, .done = on_decided};
    world->store->vtable->submit(world->store, &decision->commit);
}

static void resolve(struct world *world, struct decision *decision) {
    decision->op.kind = STORE_MARK;
    decision->op.mark = (struct store_mark){
        .state = STATE_RESOLVED, .resolution = RESOLUTION_BY_HAND, .at = world->now.wall};
    decision->message->decided = true; /* or will be, if the machine lives */
    world_say(world, "people resolve %s", decision->message->id);
    submit(world, decision);
}

static void replay(struct world *world, struct decision *decision) {
    struct envelope *envelope = &decision->held->envelope;
    envelope->state = STATE_REPLAYING;
    envelope->attempts = envelope->crashes = 0;
    envelope->replays++;
    envelope->first_failure_at = WALL_NEVER;
    decision->op.kind = STORE_UPDATE;
    decision->op.envelope = envelope;
    world_say(world, "people replay %s", decision->message->id);
    submit(world, decision);
}

static void decide(struct world *world, struct sim_message *message, bool by_replay) {
    struct decision *decision = arena_alloc(&world->pushes, sizeof *decision);
    *decision = (struct decision){.message = message};
    if (letters_get(world->real_store->letters, world_queue_name(message->queue),
                    bytes_of(message->id), &decision->held, NULL) != STATUS_OK)
        return;
    if (by_replay)
        replay(world, decision);
    else
        resolve(world, decision);
    message_free(decision->held);
}

/* ---- messages that wait, and halted queues ---- */

struct removal {
    struct engine_request request;
    struct engine_removal removal;
    struct world *world;
    struct sim_message *message;
};

static void on_removed(struct engine_request *request, enum status status) {
    struct removal *removal = CONTAINER_OF(request, struct removal, request);
    bool done = status == STATUS_OK && removal->removal.status == STATUS_OK;
    world_say(removal->world, "removed %s: %s", removal->message->id,
              done ? "ok" : removal->removal.err.text);
    removal->message->removed |= done;
}

/* Whatever it is doing: what runs is refused by the engine. What was not acknowledged may be pushed
 * again, and be another message then. */
static void remove_message(struct world *world, struct sim_message *message) {
    struct store *store = world->real_store;
    struct message *held = NULL;
    if (!message->acknowledged || letters_get(store->letters, world_queue_name(message->queue),
                                              bytes_of(message->id), &held, NULL) != STATUS_OK)
        return;
    bool bury = rng_below(&world->rng, 2) == 0;
    struct removal *removal = arena_alloc(&world->pushes, sizeof *removal);
    *removal = (struct removal){.request = {.kind = bury ? ENGINE_BURY : ENGINE_DISCARD,
                                            .queue = world_queue_name(message->queue),
                                            .why = BYTES("as people want it"),
                                            .done = on_removed,
                                            .removal_count = 1},
                                .removal = {.seq = held->seq},
                                .world = world,
                                .message = message};
    removal->request.removal = &removal->removal;
    message->removal_asked = true;
    message->decided |= !bury; /* or will be, if the engine can do it */
    message_free(held);
    world_say(world, "people %s %s", bury ? "bury" : "discard", message->id);
    engine_ask(world->engine, &removal->request);
}

static void on_resumed(struct engine_request *request, enum status status) {
    (void)request;
    (void)status;
}

static bool resume(struct world *world, size_t queue) {
    if (world->queues[queue].state != QUEUE_HALTED)
        return false;
    struct engine_request *request = arena_alloc(&world->pushes, sizeof *request);
    *request = (struct engine_request){
        .kind = ENGINE_RESUME, .queue = world_queue_name(queue), .done = on_resumed};
    world_say(world, "people resume %s", world_queue_name(queue).ptr);
    engine_ask(world->engine, request);
    return true;
}

/* With healthy messages, by which refused ones can be told from refused credentials. */
bool people_resume_all(struct world *world) {
    bool any = false;
    for (size_t i = 0; i < WORLD_QUEUES; i++) {
        if (!resume(world, i))
            continue;
        any = true;
        for (size_t n = 0; n < 2 * WORLD_CONCURRENCY; n++)
            producers_push(world, i, SCRIPT_GOOD);
    }
    return any;
}

void people_decide(struct world *world) {
    if (world->message_count == 0)
        return;
    struct sim_message *message = &world->messages[rng_below(&world->rng, world->message_count)];
    switch (rng_below(&world->rng, 6)) {
    case 0:
        sim_replay_start(world);
        return;
    case 1:
    case 2:
        remove_message(world, message);
        return;
    case 3:
        resume(world, rng_below(&world->rng, WORLD_QUEUES));
        return;
    default:
        break;
    }
    if (is_open_letter(message) && !is_behind_another(world, message))
        decide(world, message, rng_below(&world->rng, 2) == 0);
}

bool people_resolve_all(struct world *world) {
    bool any = false;
    for (size_t i = 0; i < world->message_count; i++) {
        struct sim_message *message = &world->messages[i];
        promises_look(world, message);
        if (!is_open_letter(message))
            continue;
        decide(world, message, false);
        any = true;
    }
    return any;
}
