/* People in front of the ordered queue: they resolve letters and replay them, the oldest of a key
 * first. */
#include "world.h"

static bool is_open_letter(const struct message *message) {
    return message->queue == WORLD_ORDERED_QUEUE && message->held &&
           message->state == STATE_PENDING_REVIEW;
}

/* An older letter of its key waits for people. */
static bool is_behind_another(const struct world *world, const struct message *letter) {
    for (const struct message *older = world->messages; older < letter; older++) {
        if (older->key == letter->key && is_open_letter(older))
            return true;
    }
    return false;
}

struct decision {
    struct store_commit commit;
    struct store_op op;
    struct message *message;
    struct store_held *held;
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

static void decide(struct world *world, struct message *message, bool by_replay) {
    struct decision *decision = arena_alloc(&world->pushes, sizeof *decision);
    *decision = (struct decision){.message = message};
    if (world->real_store->vtable->get(world->real_store, world_queue_name(message->queue),
                                       bytes_of(message->id), &decision->held, NULL) != STATUS_OK)
        return;
    if (by_replay)
        replay(world, decision);
    else
        resolve(world, decision);
    store_held_free(decision->held);
}

void people_decide(struct world *world) {
    if (world->message_count == 0)
        return;
    if (rng_below(&world->rng, 2) == 0) {
        sim_replay_start(world);
        return;
    }
    struct message *message = &world->messages[rng_below(&world->rng, world->message_count)];
    if (is_open_letter(message) && !is_behind_another(world, message))
        decide(world, message, rng_below(&world->rng, 2) == 0);
}

bool people_resolve_all(struct world *world) {
    bool any = false;
    for (size_t i = 0; i < world->message_count; i++) {
        struct message *message = &world->messages[i];
        promises_look(world, message);
        if (!is_open_letter(message))
            continue;
        decide(world, message, false);
        any = true;
    }
    return any;
}
