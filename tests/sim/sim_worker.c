/* Workers of the lease queue. They are outside the server: they live on when it dies, and go on
 * with what they hold; what they had asked for, they ask again. */
#include <stdio.h>

#include "world.h"

/* What a worker makes of a lease. */
enum fate {
    FATE_ANSWER,
    FATE_LATE,   /* the same, when the lease is long over */
    FATE_EXTEND, /* the same, after an extension */
    FATE_SILENT, /* its worker is dead */
};

struct sim_lease {
    struct sim_message *message; /* NULL: free */
    char text[ENGINE_LEASE_TEXT_SIZE];
    struct mono until; /* certainly alive until then */
    uint64_t began;    /* its number among all hand-overs */
    struct mono acts;  /* when its worker does something */
    enum fate fate;
    bool over; /* its worker has let go of it */
};

struct sim_worker {
    struct world *world;
    struct engine_request request;
    struct engine_lease lease;
    struct engine_leased room[SIM_WORKER_AT_ONCE];
    bool asking;
};

/* One thing said of one lease; kept until the world ends, for a crash forgets to answer. */
struct answer {
    struct world *world;
    struct sim_message *message;
    struct engine_request request;
    struct engine_release release;
    char text[ENGINE_LEASE_TEXT_SIZE];
    struct mono until;
};

struct sim_workers {
    struct sim_worker workers[SIM_WORKERS];
    struct sim_lease leases[SIM_LEASES_MAX];
};

struct sim_workers *sim_worker_new(struct world *world) {
    struct sim_workers *all = arena_alloc(&world->pushes, sizeof *all);
    for (size_t i = 0; i < SIM_WORKERS; i++)
        all->workers[i].world = world;
    return all;
}

/* ---- being given messages ---- */

static bool is_alive(const struct sim_lease *lease, struct mono now) {
    return lease->message && !lease->over && lease->until.ms > now.ms;
}

static void check_alone(struct world *world, const struct sim_message *message) {
    for (size_t i = 0; i < SIM_LEASES_MAX; i++) {
        const struct sim_lease *other = &world->workers->leases[i];
        if (other->message == message && is_alive(other, world->now.mono))
            world_break(world, "%s: leased while another lease of it is alive", message->id);
    }
}

static enum fate choose_fate(struct world *world, const struct sim_message *message) {
    if (message->script == SCRIPT_CRASHER)
        return FATE_SILENT;
    if (message->script == SCRIPT_SLOW)
        return FATE_EXTEND;
    if (!world->faults || rng_below(&world->rng, 2))
        return FATE_ANSWER;
    return (enum fate)rng_below(&world->rng, FATE_SILENT + 1);
}

static int64_t acts_after_ms(struct world *world, enum fate fate) {
    static const int64_t least[] = {[FATE_ANSWER] = 1,
                                    [FATE_LATE] = SIM_LEASE_MS + 1,
                                    [FATE_EXTEND] = SIM_LEASE_MS / 2,
                                    [FATE_SILENT] = SIM_LEASE_MS};
    return least[fate] + (int64_t)rng_below(&world->rng, 80);
}

static struct sim_lease *free_lease(struct world *world) {
    for (size_t i = 0; i < SIM_LEASES_MAX; i++)
        if (!world->workers->leases[i].message)
            return &world->workers->leases[i];
    world_break(world, "more leases than workers can hold");
    return NULL;
}

static void on_leased(struct world *world, const struct engine_leased *leased) {
    struct sim_message *message = world_message(world, leased->held->envelope.id);
    struct call seen = {.attempt = leased->attempt};
    promises_on_start(world, &world->queues[WORLD_LEASE_QUEUE], message, &seen);
    struct sim_lease *lease = free_lease(world);
    if (!message || !lease)
        return;
    check_alone(world, message);
    message->calls++;
    *lease = (struct sim_lease){
        .message = message, .began = ++world->begun, .fate = choose_fate(world, message)};
    snprintf(lease->text, sizeof lease->text, "%s", leased->lease);
    lease->until = mono_after(world->now.mono, SIM_LEASE_MS);
    lease->acts = mono_after(world->now.mono, acts_after_ms(world, lease->fate));
    world_say(world, "leased %s attempt %u fate %d", message->id, leased->attempt, lease->fate);
}

static void on_fetched(struct engine_request *request, enum status status) {
    struct sim_worker *worker = request->arg;
    worker->asking = false;
    for (size_t i = 0; status == STATUS_OK && i < worker->lease.count; i++)
        on_leased(worker->world, &worker->room[i]);
}

static void fetch(struct sim_worker *worker) {
    struct world *world = worker->world;
    worker->lease =
        (struct engine_lease){.max = 1 + (uint32_t)rng_below(&world->rng, SIM_WORKER_AT_ONCE),
                              .wait_ms = (int64_t)rng_below(&world->rng, 2000),
                              .lease_ms = SIM_LEASE_MS,
                              .messages = worker->room};
    worker->request = (struct engine_request){.kind = ENGINE_LEASE,
                                              .queue = world_queue_name(WORLD_LEASE_QUEUE),
                                              .done = on_fetched,
                                              .arg = worker,
                                              .lease = &worker->lease};
    worker->asking = true;
    engine_ask(world->engine, &worker->request);
}

/* A server with nothing to give is left in peace, so that a world can come to rest. */
static bool has_work(struct world *world) {
    struct store *store = world->real_store;
    struct store_queue_counts counts;
    uint32_t number = store->vtable->queue_number(store, world_queue_name(WORLD_LEASE_QUEUE));
    store->vtable->counts(store, number, &counts);
    return counts.queued + counts.pending_retry > 0 &&
           world->queues[WORLD_LEASE_QUEUE].state != QUEUE_HALTED;
}

/* ---- answering ---- */

/* Trouble with the disk is nobody's promise; a lease that was alive when it was answered is. */
static void on_answered(struct engine_request *request, enum status status) {
    struct answer *answer = request->arg;
    struct world *world = answer->world;
    (void)status;
    status = answer->release.status;
    world_say(world, "%s %s: %s", answer->release.kind == RELEASE_EXTEND ? "extend" : "answer for",
              answer->message->id, status_name(status));
    if (status != STATUS_OK)
        answer->message->silent++;
    if ((status == STATUS_CONFLICT || status == STATUS_NOT_FOUND) &&
        !answer->message->removal_asked && answer->until.ms > world->now.mono.ms)
        world_break(world, "%s: an answer in time was refused: %s", answer->message->id,
                    answer->release.err.text);
}

static void say(struct world *world, struct sim_lease *lease, enum engine_release_kind kind,
                struct outcome outcome) {
    struct answer *answer = arena_alloc(&world->pushes, sizeof *answer);
    answer->world = world;
    answer->message = lease->message;
    answer->until = lease->until;
    snprintf(answer->text, sizeof answer->text, "%s", lease->text);
    answer->release =
        (struct engine_release){.kind = kind,
                                .lease = bytes_of(answer->text),
                                .outcome = outcome,
                                .lease_ms = SIM_LEASE_MS + (int64_t)rng_below(&world->rng, 2)};
    answer->request = (struct engine_request){.kind = ENGINE_RELEASE,
                                              .done = on_answered,
                                              .arg = answer,
                                              .release = &answer->release,
                                              .release_count = 1};
    engine_ask(world->engine, &answer->request);
}

static void extend(struct world *world, struct sim_lease *lease) {
    say(world, lease, RELEASE_EXTEND, (struct outcome){.retry_after_ms = -1});
    lease->fate = FATE_ANSWER;
    lease->acts = mono_after(world->now.mono, SIM_LEASE_MS * 3 / 4);
}

static void finish(struct world *world, struct sim_lease *lease) {
    struct outcome outcome =
        world->locked_out ? sim_handler_locked_out() : sim_handler_script(lease->message);
    bool ok = outcome.ending == ENDING_OK;
    outcome.kind = KIND_REPORTED;
    lease->over = true;
    lease->message->succeeded += ok;
    refusals_on_end(world, lease->message, lease->began, &outcome);
    say(world, lease, ok ? RELEASE_ACK : RELEASE_FAIL, outcome);
}

static void act(struct world *world, struct sim_lease *lease) {
    if (lease->fate == FATE_EXTEND) {
        extend(world, lease);
        return;
    }
    if (lease->fate == FATE_SILENT)
        lease->message->silent++;
    else
        finish(world, lease);
    lease->acts = MONO_NEVER;
}

/* A silent one's slot is kept while its lease may be alive. */
static bool is_done(const struct sim_lease *lease, struct mono now) {
    return lease->acts.ms == MONO_NEVER.ms && !is_alive(lease, now);
}

void sim_worker_work(struct world *world) {
    struct sim_workers *all = world->workers;
    for (size_t i = 0; i < SIM_LEASES_MAX; i++) {
        struct sim_lease *lease = &all->leases[i];
        if (lease->message && lease->acts.ms <= world->now.mono.ms)
            act(world, lease);
        if (lease->message && is_done(lease, world->now.mono))
            lease->message = NULL;
    }
    for (size_t i = 0; i < SIM_WORKERS; i++)
        if (!all->workers[i].asking && has_work(world) && rng_below(&world->rng, 2))
            fetch(&all->workers[i]);
}

struct mono sim_worker_next(const struct world *world) {
    struct mono next = MONO_NEVER;
    for (size_t i = 0; i < SIM_LEASES_MAX; i++)
        if (world->workers->leases[i].message)
            next = mono_earlier(next, world->workers->leases[i].acts);
    return next;
}

bool sim_worker_wants(struct world *world) {
    return has_work(world);
}

/* What the server was about to give, or to hear, is lost. */
void sim_worker_cut_off(struct world *world) {
    for (size_t i = 0; i < SIM_WORKERS; i++)
        world->workers->workers[i].asking = false;
    for (size_t i = 0; i < world->message_count; i++)
        world->messages[i].silent++;
}
