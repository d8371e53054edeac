#include "world.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "broker/builtin/builtin.h"
#include "fake_broker.h"
#include "engine/state.h"
#include "sim_disk.h"
#include "sim_vfs.h"
#include "store/embedded/sqlite_store.h"

#define REMEMBER_MS   (INT64_C(3650) * 24 * 3600 * 1000)
#define WALL_START_MS INT64_C(1700000000000)

enum {
    SETTLE_STEPS_MAX = 20000,
    SETTLE_ROUNDS_MAX = 1000,
    HEALTHY_GAP_MS = 500,     /* when nothing is to happen for so long … */
    HEALTHY_LATE_MS = 30000,  /* … or so long after the last */
    WAITING_MAX = 4,          /* in memory, in every other world */
    DELIVERIES_MOST = 1000,   /* more than there are lives */
    RESUME_MS = 60 * 1000,    /* how often people resume halted queues */
    FULL_MS = 30 * 60 * 1000, /* in which healthy messages are done with although DLQs are full */
};

void world_break(struct world *world, const char *format, ...) {
    va_list args;
    if (world->broken[0])
        return;
    va_start(args, format);
    vsnprintf(world->broken, sizeof world->broken, format, args);
    va_end(args);
}

void world_say(struct world *world, const char *format, ...) {
    va_list args;
    if (!world->verbose)
        return;
    printf("%9lld ms  life %u  ", (long long)world->now.mono.ms, world->lives);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

struct sim_message *world_message(struct world *world, struct bytes id) {
    uint64_t number;
    if (id.len < 2 || !bytes_u64(bytes_cut(id, 1, id.len), &number) || number == 0 ||
        number > world->message_count)
        return NULL;
    return &world->messages[number - 1];
}

struct bytes world_queue_name(size_t queue) {
    static const char *const names[WORLD_QUEUES] = {"q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"};
    return bytes_of(names[queue]);
}

static struct instant read_clock(struct clock *clock) {
    return CONTAINER_OF(clock, struct world, clock)->now;
}

/* ---- one life of the server ---- */

static void on_event(void *arg, const struct engine_event *event) {
    struct world *world = arg;
    if (event->letter && world->replays)
        sim_replay_heard(world, event->letter);
    struct json json, queue, state;
    if (strcmp(event->type, "breaker") != 0 || json_parse(event->json, &json, NULL) != STATUS_OK ||
        !json_get(json, "queue", &queue) || !json_get(json, "state", &state))
        return;
    struct world_queue *about = &world->queues[queue.text.ptr[2] - '0'];
    for (int s = BREAKER_CLOSED; s <= BREAKER_HALF_OPEN; s++)
        if (bytes_is(bytes_cut(state.text, 1, state.text.len - 1),
                     breaker_state_text((enum breaker_state)s)))
            about->breaker = (enum breaker_state)s;
    world_say(world, "breaker %.*s", BYTES_ARG(event->json));
}

static struct engine_reply reply_of(struct world *world, size_t queue) {
    const int64_t longer_than_any_jump_ms = INT64_C(20) * 365 * 86400 * 1000;
    if (queue == WORLD_KEEPING_QUEUE)
        return (struct engine_reply){.store_ms = longer_than_any_jump_ms};
    return (struct engine_reply){.sink = queue == WORLD_SINK_QUEUE ? &world->sink : NULL};
}

static void add_queue(struct world *world, size_t i) {
    static const char *const dlqs[WORLD_QUEUES] = {"q0.dlq", "q1.dlq", "q2.dlq", "q3.dlq",
                                                   "q4.dlq", "q5.dlq", "q6.dlq", "q7.dlq"};
    static const enum handler_class classes[WORLD_QUEUES] = {
        [WORLD_CALLBACK_QUEUE] = HANDLER_CALLBACK, [WORLD_LEASE_QUEUE] = HANDLER_LEASE};
    bool inside = i == WORLD_CALLBACK_QUEUE, leases = i == WORLD_LEASE_QUEUE;
    struct bytes name = world_queue_name(i);
    struct world_queue *queue = &world->queues[i];
    queue->world = world;
    queue->start_count = 0;
    queue->breaker = BREAKER_CLOSED;
    queue->successes = 0;
    queue->failing_count = 0;
    queue->handler.vtable = inside ? &sim_handler_inside_vtable : &sim_handler_vtable;
    queue->handlers[0] = (struct engine_handler){.handler = &queue->handler,
                                                 .batch = i == WORLD_BATCH_QUEUE ? WORLD_BATCH : 1,
                                                 .reply = reply_of(world, i)};
    policy_init(&queue->policy, name, bytes_of(dlqs[i]), classes[i]);
    queue->policy.poison.deliveries = DELIVERIES_MOST;
    queue->dlq = (struct engine_dlq){.name = bytes_of(dlqs[i]), .cap = world->cap};
    uint32_t number = world->store->vtable->queue_number(world->store, name);
    queue->broker = i == WORLD_SERVER_QUEUE ? fake_broker_new(world->server)
                                            : builtin_new(world->store, number);
    struct engine_queue_options options = {
        .name = name,
        .rules = {.policy = &queue->policy,
                  .concurrency = leases ? ENGINE_UNLIMITED : WORLD_CONCURRENCY,
                  .dlqs = &queue->dlq,
                  .dlq_count = 1},
        .broker = queue->broker,
        .handlers = queue->handlers,
        .handler_count = !leases};
    if (i == WORLD_ORDERED_QUEUE) {
        options.rules.order = ORDER_KEY;
        options.rules.blocked_limit = WORLD_BLOCKED_LIMIT;
    }
    if (i == WORLD_ONCE_QUEUE)
        options.rules.idempotency =
            (struct engine_idempotency){.header = BYTES("once"), .dedupe_ms = REMEMBER_MS};
    if (engine_add(world->engine, &options, NULL) != STATUS_OK)
        abort();
}

static bool open_life(struct world *world) {
    struct err err = {STATUS_OK, ""};
    struct sqlite_store_options options = {.path = "impound.db",
                                           .disk = sim_disk_port(world->disk),
                                           .vfs = SIM_VFS_NAME,
                                           .clock = &world->clock,
                                           .journal_segment_bytes = 64 << 10,
                                           .pack_bytes = 32 << 10,
                                           .waiting_max = world->seed % 2 ? 0 : WAITING_MAX};
    if (sqlite_store_open(&options, &world->real_store, &err) != STATUS_OK) {
        world_say(world, "open failed: %s", err.text);
        if (!sim_disk_is_dead(world->disk))
            world_break(world, "the store does not open: %s", err.text);
        return false;
    }
    world->store =
        world->sabotage ? sabotage_new(world->real_store, world->sabotage) : world->real_store;
    char attempt_log_path[32];
    snprintf(attempt_log_path, sizeof attempt_log_path, "/proc/self/fd/%d", world->flights);
    struct engine_options engine = {.store = world->store,
                                    .clock = &world->clock,
                                    .seed = rng_next(&world->rng),
                                    .attempt_log_path = attempt_log_path,
                                    .instance = BYTES("sim"),
                                    .event = on_event,
                                    .event_arg = world};
    world->engine = engine_new(&engine);
    for (size_t i = 0; i < WORLD_QUEUES; i++)
        add_queue(world, i);
    if (engine_recover(world->engine, NULL) != STATUS_OK)
        abort();
    sim_replay_open(world);
    refusals_open(world);
    for (size_t i = 0; i < world->message_count; i++) {
        world->messages[i].tried_at = (struct mono){0};
        world->messages[i].passed_over = 0;
    }
    world->next_turn = world->now.mono;
    world->lives++;
    return true;
}

static void end_life(struct world *world) {
    sim_handler_drop_all(world);
    sim_sink_drop_all(world);
    sim_worker_cut_off(world);
    engine_free(world->engine);
    sim_replay_close(world);
    for (size_t i = 0; i < WORLD_QUEUES; i++)
        world->queues[i].broker->vtable->free(world->queues[i].broker);
    sqlite_store_crash(world->real_store);
    if (world->sabotage)
        sabotage_free(world->store);
    world->engine = NULL;
    world->real_store = world->store = NULL;
}

/* A refusal is final from the next commit that succeeds on. A machine that dies before may have on
 * its disk what it could neither write nor take back: the producer's 503 then means "not known". */
static void doubt_refusals(struct world *world) {
    for (size_t i = 0; i < world->message_count; i++)
        if (world->messages[i].rejected_after == world->commits_ok)
            world->messages[i].rejected = false;
}

/* An engine that is freed clears its slots, which one that is killed does not. */
static void end_life_suddenly(struct world *world, bool power_cut) {
    off_t size = lseek(world->flights, 0, SEEK_END);
    char *slots = memory_new((size_t)size);
    if (pread(world->flights, slots, (size_t)size, 0) != size)
        abort();
    end_life(world);
    if (world->sabotage == SABOTAGE_BLAME_ALL)
        sabotage_blame_all(slots, (size_t)size);
    if (ftruncate(world->flights, 0) != 0 ||
        (!power_cut && pwrite(world->flights, slots, (size_t)size, 0) != size))
        abort();
    free(slots);
}

/* kill -9 or a power cut: the disk decides what it kept. Opening may be cut short as well. */
static void crash(struct world *world) {
    bool power_cut = !world->killed;
    world_say(world, power_cut ? "crash" : "the process dies of its message");
    world->killed = false;
    doubt_refusals(world);
    end_life_suddenly(world, power_cut);
    do {
        sim_disk_crash(world->disk);
        if (world->faults && rng_below(&world->rng, 4) == 0)
            sim_disk_crash_at(world->disk, 1 + rng_below(&world->rng, 60));
    } while (!open_life(world) && !world->broken[0]);
    if (!world->broken[0])
        promises_check_all(world);
}

/* ---- what may happen ---- */

static void turn_if_wanted(struct world *world) {
    struct mailbox *box = &world->engine->mailbox;
    if (!box->first && !box->rung && world->next_turn.ms > world->now.mono.ms)
        return;
    refusals_before_turn(world);
    world->next_turn = engine_turn(world->engine, world->now);
    refusals_after_turn(world);
}

static void complete_due(struct world *world) {
    for (size_t i = 0; i < world->call_count && !world->killed;) {
        if (world->calls[i].ends.ms <= world->now.mono.ms)
            sim_handler_complete(world, i);
        else
            i++;
    }
    if (!world->killed) {
        sim_sink_work(world);
        sim_worker_work(world);
    }
}

static void pass_time(struct world *world, int64_t ms) {
    world->now.mono.ms += ms;
    world->now.wall.ms += ms;
}

/* Of queues, handlers and workers. */
static struct mono next_of_queues(const struct world *world) {
    struct mono next = mono_earlier(world->next_turn, sim_worker_next(world));
    next = mono_earlier(next, sim_sink_next(world));
    for (size_t i = 0; i < world->call_count; i++)
        next = mono_earlier(next, world->calls[i].ends);
    return next;
}

static struct mono next_event(const struct world *world) {
    return mono_earlier(next_of_queues(world), sim_replay_next(world));
}

static void skip_to_next_event(struct world *world) {
    struct mono next = next_event(world);
    if (next.ms != MONO_NEVER.ms && next.ms > world->now.mono.ms)
        pass_time(world, next.ms - world->now.mono.ms);
}

static void toggle_outage(struct world *world) {
    static const int kinds[] = {503, 500, 0};
    world->outage = !world->outage;
    world->outage_status = kinds[rng_below(&world->rng, 3)];
    world_say(world, "outage %s", world->outage ? "begins" : "ends");
}

static void ignore_answer(struct engine_request *request, enum status status) {
    (void)request;
    (void)status;
}

static void ask(struct world *world, enum engine_request_kind kind, size_t queue) {
    struct engine_request *request = arena_alloc(&world->pushes, sizeof *request);
    *request = (struct engine_request){
        .kind = kind, .queue = world_queue_name(queue), .done = ignore_answer};
    engine_ask(world->engine, request);
}

static void something_goes_wrong(struct world *world) {
    switch (rng_below(&world->rng, 12)) {
    case 0:
        crash(world);
        break;
    case 1:
    case 2:
        sim_disk_crash_at(world->disk, 1 + rng_below(&world->rng, 40));
        break;
    case 3:
        sim_disk_fail_after(world->disk, rng_below(&world->rng, 10), 1 + rng_below(&world->rng, 3),
                            rng_below(&world->rng, 2) ? EIO : ENOSPC);
        break;
    case 4:
        world->now.wall.ms += (int64_t)rng_below(&world->rng, 7200000) - 3600000;
        break;
    case 5:
    case 6:
        toggle_outage(world);
        break;
    case 10:
    case 11:
        world->locked_out = !world->locked_out;
        world_say(world, "credentials are %s", world->locked_out ? "refused" : "accepted");
        break;
    case 7:
        world_say(world, "the broker gives everything again");
        fake_server_redeliver(world->server);
        break;
    case 8:
        fake_server_set_trouble(world->server, rng_below(&world->rng, 2) ? "it is gone" : NULL);
        break;
    default:
        ask(world, rng_below(&world->rng, 2) ? ENGINE_PAUSE : ENGINE_RESUME,
            rng_below(&world->rng, WORLD_QUEUES));
    }
}

void world_step(struct world *world) {
    uint64_t choice = rng_below(&world->rng, 100);
    if (choice < 20)
        producers_push_new(world);
    else if (choice < 22)
        producers_push_again(world);
    else if (choice < 45)
        turn_if_wanted(world);
    else if (choice < 50)
        sim_replay_step(world);
    else if (choice < 70)
        sqlite_store_step(world->real_store);
    else if (choice < 73)
        sqlite_store_fold(world->real_store);
    else if (choice < 85)
        complete_due(world);
    else if (choice < 93)
        skip_to_next_event(world);
    else if (choice < 97)
        people_decide(world);
    else if (world->faults)
        something_goes_wrong(world);
    if ((sim_disk_is_dead(world->disk) || world->killed) && !world->broken[0])
        crash(world);
    if (!world->broken[0])
        promises_check(world);
}

static bool at_rest(struct world *world) {
    struct mailbox *box = &world->engine->mailbox;
    return !box->first && !box->rung && !sim_replay_has_mail(world) && sim_replay_is_over(world) &&
           next_event(world).ms == MONO_NEVER.ms && !sim_worker_wants(world);
}

/* A replay that waits for a halted queue never rests. */
static void resume_now_and_then(struct world *world, struct mono *resumed_at) {
    if (world->now.mono.ms - resumed_at->ms < RESUME_MS)
        return;
    people_resume_all(world);
    *resumed_at = world->now.mono;
}

static void run_to_rest(struct world *world) {
    struct mono healthy_at = world->now.mono, resumed_at = world->now.mono;
    for (size_t step = 0; step < SETTLE_STEPS_MAX && !world->broken[0]; step++) {
        sqlite_store_step(world->real_store);
        turn_if_wanted(world);
        sqlite_store_step(world->real_store);
        sim_replay_step(world);
        complete_due(world);
        if (world->killed)
            crash(world);
        if (at_rest(world))
            return;
        if (next_of_queues(world).ms - world->now.mono.ms > HEALTHY_GAP_MS ||
            world->now.mono.ms - healthy_at.ms > HEALTHY_LATE_MS) {
            producers_go_on(world);
            healthy_at = world->now.mono;
        }
        resume_now_and_then(world, &resumed_at);
        skip_to_next_event(world);
    }
    world_break(world, "it never comes to rest");
}

/* With full DLQs there is no rest: they are looked at again and again. */
static void run_while_full(struct world *world) {
    struct mono until = mono_after(world->now.mono, FULL_MS), resumed_at = world->now.mono;
    for (size_t step = 0; step < SETTLE_STEPS_MAX && world->now.mono.ms < until.ms; step++) {
        sqlite_store_step(world->real_store);
        turn_if_wanted(world);
        sqlite_store_step(world->real_store);
        sim_replay_step(world);
        complete_due(world);
        if (world->killed)
            crash(world);
        if (world->broken[0] || at_rest(world))
            return;
        resume_now_and_then(world, &resumed_at);
        skip_to_next_event(world);
    }
}

/* Engines read the caps as they are now. */
static void make_room(struct world *world) {
    world->cap = WORLD_CAP;
    for (size_t i = 0; i < WORLD_QUEUES; i++)
        world->queues[i].dlq.cap = WORLD_CAP;
}

/* What waits behind a letter waits for people, and so does a halted queue. */
static void run_to_end(struct world *world) {
    for (size_t round = 0; round < SETTLE_ROUNDS_MAX; round++) {
        run_to_rest(world);
        bool resolved = !world->broken[0] && people_resolve_all(world);
        bool resumed = !world->broken[0] && people_resume_all(world);
        if (!resolved && !resumed)
            return;
    }
    world_break(world, "people resolve letters and resume queues, and it does not help");
}

void world_settle(struct world *world) {
    world->faults = false;
    world->outage = false;
    world->locked_out = false;
    fake_server_set_trouble(world->server, NULL);
    sim_disk_crash_at(world->disk, 0);
    sim_disk_fail_after(world->disk, 0, 0, EIO);
    sqlite_store_fold(world->real_store); /* as its thread does, and notices room on a full disk */
    for (size_t i = 0; i < WORLD_QUEUES; i++)
        ask(world, ENGINE_RESUME, i);
    if (world->cap == WORLD_CAP_SMALL) {
        run_while_full(world);
        promises_check_healthy(world);
        make_room(world);
    }
    run_to_end(world);
    /* Whoever comes to a sleeping server wakes it. */
    for (size_t i = 0; i < WORLD_QUEUES; i++)
        producers_push(world, i, SCRIPT_GOOD);
    run_to_end(world);
    sqlite_store_fold(world->real_store);
    if (!world->broken[0])
        promises_check_end(world);
}

struct world *world_new(uint64_t seed, enum sabotage sabotage, bool verbose) {
    struct world *world = memory_new(sizeof *world);
    world->seed = seed;
    world->sabotage = sabotage;
    world->verbose = verbose;
    world->faults = true;
    world->refusing = seed % 4 == 1;
    world->cap = seed % 3 == 0 ? WORLD_CAP_SMALL : WORLD_CAP;
    rng_seed(&world->rng, seed);
    arena_init_heap(&world->pushes, 64 << 10);
    world->clock.now = read_clock;
    world->sink.vtable = &sim_sink_vtable;
    for (size_t i = 1; i <= WORLD_KEYS; i++) {
        snprintf(world->key_names[i], sizeof world->key_names[i], "k%u", (unsigned)i % 10);
        world->key_headers[i] = (struct rule_header){BYTES("once"), bytes_of(world->key_names[i])};
    }
    world->now = (struct instant){{WALL_START_MS}, {1000000}};
    world->flights = memfd_create("flights", MFD_CLOEXEC);
    world->workers = sim_worker_new(world);
    world->server = fake_server_new();
    world->disk = sim_disk_new(rng_next(&world->rng));
    world->vfs = sim_vfs_new(world->disk, rng_next(&world->rng));
    if (!open_life(world))
        abort();
    return world;
}

void world_free(struct world *world) {
    if (world->engine)
        end_life(world);
    fake_server_free(world->server);
    sim_vfs_free(world->vfs);
    sim_disk_free(world->disk);
    close(world->flights);
    arena_free(&world->pushes);
    sim_replay_free(world);
    free(world);
}
