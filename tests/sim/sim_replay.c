/* Replays of the letters of one queue, started by people at any moment, killed with the server, and
 * taken up by its next life. */
#include <stdlib.h>

#include "triage/replay/replay_blocked.h"
#include "triage/replay/replay_state.h"
#include "world.h"

enum { QUEUE = 0, LETTERS_MAX = 8 };

/* One that is about to exist: its selection and itself are on their way to the disk. */
struct sim_start {
    struct store_commit commit;
    struct world *world;
    struct replay *replay;
};

struct sim_replays {
    struct triage triage;
    struct replays *replays; /* of this life */
    struct sim_start *starting;
    struct mono next;
};

/* ---- what replays ask ---- */

static bool queue_is(void *arg, struct bytes name, struct replay_queue *out) {
    struct world *world = arg;
    struct engine_queue_view view;
    *out = (struct replay_queue){.max_lag = UINT64_MAX, .concurrency = WORLD_CONCURRENCY};
    if (!engine_view(world->engine, name, &view))
        return false;
    const char *stopped = view.state == QUEUE_RUNNING ? NULL : queue_state_text(view.state);
    replay_blocked(&(struct replay_queue_state){.name = view.name,
                                                .stopped = stopped,
                                                .checking = view.checking,
                                                .breaker_open = view.breaker == BREAKER_OPEN,
                                                .source_connected = true},
                   out);
    return true;
}

static void dlq_says(void *arg, struct bytes name, struct replay_dlq *out) {
    (void)arg;
    (void)name;
    *out = (struct replay_dlq){.max_replays = 2};
}

/* ---- lives ---- */

void sim_replay_open(struct world *world) {
    struct replay_around around = {.queue = queue_is, .dlq = dlq_says, .arg = world};
    if (!world->replays)
        world->replays = calloc(1, sizeof *world->replays);
    struct sim_replays *self = world->replays;
    triage_init(&self->triage, &world->clock, rng_next(&world->rng));
    self->triage.store = world->store;
    self->replays = replays_new(&self->triage, &around);
    struct err err;
    if (replays_recover(self->replays, &err) != STATUS_OK)
        world_say(world, "replays are not taken up: %s", err.text);
    self->next = world->now.mono;
}

void sim_replay_close(struct world *world) {
    struct sim_replays *self = world->replays;
    if (self->starting)
        replay_free(self->starting->replay);
    self->starting = NULL;
    replays_free(self->replays);
    triage_free(&self->triage);
    self->replays = NULL;
}

void sim_replay_free(struct world *world) {
    free(world->replays);
}

void sim_replay_heard(struct world *world, const struct envelope *letter) {
    replays_heard(world->replays->replays, letter);
}

/* ---- starting one ---- */

static bool is_open_letter(const struct sim_message *message) {
    return message->queue == QUEUE && message->held && message->state == STATE_PENDING_REVIEW;
}

static void on_started(struct store_commit *commit, enum status status) {
    struct sim_start *start = CONTAINER_OF(commit, struct sim_start, commit);
    struct sim_replays *self = start->world->replays;
    world_say(start->world, "replay %s: %s", start->replay->id, status_name(status));
    if (status == STATUS_OK)
        list_push_back(&self->replays->active, &start->replay->link);
    else
        replay_free(start->replay);
    self->starting = NULL;
}

static struct replay_part *choose(struct world *world, struct replay *replay) {
    struct replay_part *part = replay_part_new(0);
    struct store *store = world->real_store;
    bool oldest_first = selection_oldest_first(&replay->order.selection);
    for (size_t n = 0; n < world->message_count && part->count < LETTERS_MAX; n++) {
        size_t i = oldest_first ? n : world->message_count - 1 - n;
        struct message *held = NULL;
        struct err err;
        if (!is_open_letter(&world->messages[i]) ||
            letters_get(store->letters, world_queue_name(QUEUE), bytes_of(world->messages[i].id),
                        &held, NULL) != STATUS_OK)
            continue;
        if (held->envelope.state == STATE_PENDING_REVIEW &&
            replay_check_free(world->replays->replays, &held->envelope, &err) == STATUS_OK)
            replay_part_add(part, held->envelope.queue, held->envelope.letter_id);
        message_free(held);
    }
    replay->selected = part->count;
    replay->counts.by[REPLAYED_WAITING] = part->count;
    replay->claims = calloc(part->count + 1, sizeof *replay->claims);
    for (uint32_t i = 0; i < part->count; i++)
        replay->claims[i] = bytes_hash(part->letters[i].id);
    replay_sort_claims(replay);
    return part;
}

static struct replay *make(struct world *world) {
    struct sim_replays *self = world->replays;
    struct replay_order order;
    char id[UUID_TEXT_SIZE];
    replay_order_init(&order);
    order.rate.kind = rng_below(&world->rng, 2) ? REPLAY_RATE_UNLIMITED : REPLAY_RATE_FIXED;
    order.canary_count = rng_below(&world->rng, 3);
    order.guarded = order.canary_count > 0; /* without a canary it is a triage rule's */
    if (order.canary_count == 1)
        order.selection.limit = LETTERS_MAX; /* which takes the oldest */
    triage_new_id(&self->triage, world->now.wall, id);
    struct replay *replay = replay_new(self->replays, id);
    replay_set_order(replay, &order);
    return replay;
}

void sim_replay_start(struct world *world) {
    struct sim_replays *self = world->replays;
    if (self->starting)
        return;
    struct replay *replay = make(world);
    struct replay_part *part = choose(world, replay);
    if (part->count == 0) {
        replay_part_free(part);
        replay_free(replay);
        return;
    }
    self->replays->now = world->now;
    self->starting = arena_alloc(&world->pushes, sizeof *self->starting);
    self->starting->world = world;
    self->starting->replay = replay;
    struct arena *arena = &world->pushes;
    struct store_op ops[] = {replay_part_letters_op(part, replay->id, world->now.wall, arena),
                             replay_doc_op(replay, arena), replay_mark_op(replay, true, arena)};
    self->starting->commit = (struct store_commit){.ops = ops, .count = 3, .done = on_started};
    world->store->vtable->submit(world->store, &self->starting->commit);
    replay_part_free(part);
}

/* ---- time ---- */

void sim_replay_step(struct world *world) {
    struct sim_replays *self = world->replays;
    self->next = replays_step(self->replays, world->now);
}

struct mono sim_replay_next(const struct world *world) {
    const struct sim_replays *self = world->replays;
    return list_empty(&self->replays->active) ? MONO_NEVER : self->next;
}

bool sim_replay_has_mail(const struct world *world) {
    return world->replays->replays->mailbox.first != NULL;
}

bool sim_replay_is_over(const struct world *world) {
    return list_empty(&world->replays->replays->active) && !world->replays->starting;
}
