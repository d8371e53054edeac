/* The embedded store on a disk that loses power: whatever was acknowledged is there afterwards in
 * its right state, whatever failed is not, and the rest happened wholly or not at all. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/rng.h"
#include "core/lifecycle.h"
#include "core/note_space.h"
#include "port/clock.h"
#include "sim_disk.h"
#include "sim_vfs.h"
#include "store/embedded/sqlite_store.h"
#include "store_model.h"
#include "test.h"

enum {
    SEEDS = 400,
    LIVES = 4,
    ACTIONS = 60,
    START_MS = 1000,
    PACK_BYTES = 12 << 10,
    SEGMENT_BYTES = 32 << 10,
    WAITING_MAX = 3,  /* in memory, in every other world */
    LARGE_ABOVE = 64, /* bytes of a body, in every third world; more after some of the starts */
    LARGE_RAISED = 300,
    BODY_MAX = 400, /* of which most are padding */
    BODY_SMALL = 24,
};

struct world {
    struct clock clock;
    struct instant now;
    struct rng rng;
    struct sim_disk *disk;
    struct sim_vfs *vfs;
    struct store *store;
    uint32_t queue;
    uint64_t seqs[MODEL_IDS];
    struct model model;
    struct in_flight *flights; /* what was submitted and not answered */
    uint64_t seed;
};

struct in_flight {
    struct store_commit commit;
    struct store_op ops[MODEL_COMMIT_MAX];
    struct envelope envelopes[MODEL_COMMIT_MAX];
    char texts[MODEL_COMMIT_MAX][2][40];
    size_t ids[MODEL_COMMIT_MAX];
    char bodies[MODEL_COMMIT_MAX][BODY_MAX + 1];
    char whys[MODEL_COMMIT_MAX][16];
    struct world *world;
    struct in_flight *next;
};

static struct instant read_clock(struct clock *clock) {
    return ((struct world *)(void *)clock)->now;
}

/* ---- opening ---- */

/* Some bodies are in files of their own, and the bound of that may have been raised since. */
static bool has_large(const struct world *world) {
    return world->seed % 3 == 0;
}

static uint64_t large_bytes(struct world *world) {
    if (!has_large(world))
        return 0;
    return rng_below(&world->rng, 3) ? LARGE_ABOVE : LARGE_RAISED;
}

static enum status try_open(struct world *world) {
    struct sqlite_store_options options = {.path = "impound.db",
                                           .disk = sim_disk_port(world->disk),
                                           .vfs = SIM_VFS_NAME,
                                           .clock = &world->clock,
                                           .journal_segment_bytes = SEGMENT_BYTES,
                                           .pack_bytes = PACK_BYTES,
                                           .journal_max_bytes = 4 * SEGMENT_BYTES,
                                           .fold_changes = 3,
                                           .large_bytes = large_bytes(world),
                                           .waiting_max = world->seed % 2 ? 0 : WAITING_MAX};
    struct err err = {0};
    enum status status = sqlite_store_open(&options, &world->store, &err);
    if (status != STATUS_OK && !sim_disk_is_dead(world->disk))
        fail_msg("seed %llu: the store does not open: %s", (unsigned long long)world->seed,
                 err.text);
    return status;
}

/* A machine may die again while it recovers. */
static void open_store(struct world *world) {
    if (rng_below(&world->rng, 4) == 0)
        sim_disk_crash_at(world->disk, 1 + rng_below(&world->rng, 20));
    while (try_open(world) != STATUS_OK)
        sim_disk_crash(world->disk);
    world->queue = world->store->vtable->queue_number(world->store, BYTES("orders"));
}

/* ---- changing ---- */

static void answered(struct store_commit *commit, enum status status) {
    struct in_flight *flight = commit->arg;
    struct world *world = flight->world;
    if (sim_disk_is_dead(world->disk) && status != STATUS_OK)
        return; /* nobody hears a dead machine: it stays open in the model */
    assert_true(status == STATUS_OK || status == STATUS_IO || status == STATUS_FULL);
    model_answer(&world->model, status == STATUS_OK);
}

static void drop_flights(struct world *world) {
    for (struct in_flight *flight = world->flights, *next; flight; flight = next) {
        next = flight->next;
        free(flight);
    }
    world->flights = NULL;
}

static enum state next_state(struct world *world, enum state from) {
    enum state to;
    do
        to = (enum state)rng_below(&world->rng, STATE_COUNT);
    while (!lifecycle_allows(from, to) || to == STATE_RUNNING || to == STATE_RETRYING);
    return to;
}

static void fill_envelope(struct in_flight *flight, size_t at, size_t id,
                          const struct model_message *after) {
    struct envelope *envelope = &flight->envelopes[at];
    snprintf(flight->texts[at][0], sizeof flight->texts[at][0], "m%zu", id);
    snprintf(flight->texts[at][1], sizeof flight->texts[at][1], "01900000-0000-7000-8000-%012zu",
             id);
    *envelope = (struct envelope){
        .id = bytes_of(flight->texts[at][0]),
        .queue = BYTES("orders"),
        .state = after->state,
        .attempts = after->version,
        .retry_after_ms = -1,
        .source = BYTES("{\"kind\":\"builtin\"}"),
        .created_at = flight->world->now.wall,
    };
    if (lifecycle_is_letter(after->state)) {
        envelope->letter_id = bytes_of(flight->texts[at][1]);
        envelope->dlq = BYTES("orders.dlq");
        envelope->category = after->version % 2 ? BYTES("bug") : BYTES("timeout");
        envelope->reason = BYTES("r");
        envelope->failed = true;
        envelope->error_message = after->version % 3 ? BYTES("boom") : BYTES("bang");
        envelope->dead_at = flight->world->now.wall;
    }
}

static void add_put(struct in_flight *flight, size_t at, struct model_message *after) {
    struct world *world = flight->world;
    static const enum state first[] = {STATE_QUEUED, STATE_PENDING_RETRY, STATE_PENDING_REVIEW};
    *after = (struct model_message){.held = true,
                                    .state = first[rng_below(&world->rng, 3)],
                                    .version = ++world->model.versions};
    after->body = after->version;
    flight->ops[at].kind = STORE_PUT;
    flight->ops[at].check_id = true;
}

static void add_mark(struct in_flight *flight, size_t at, struct model_message *after) {
    struct world *world = flight->world;
    static const enum state to[] = {STATE_PENDING_REVIEW, STATE_RESOLVED, STATE_DISCARDED};
    do
        flight->ops[at].mark.state = to[rng_below(&world->rng, 3)];
    while (!lifecycle_allows(after->state, flight->ops[at].mark.state));
    after->state = flight->ops[at].mark.state;
    after->why = ++world->model.versions;
    snprintf(flight->whys[at], sizeof flight->whys[at], "%u", after->why);
    flight->ops[at].kind = STORE_MARK;
    flight->ops[at].mark.why = bytes_of(flight->whys[at]);
    flight->ops[at].mark.at = world->now.wall;
}

static void add_change(struct in_flight *flight, size_t at, struct model_message *after) {
    struct world *world = flight->world;
    flight->ops[at].seq = world->seqs[flight->ids[at]];
    if (rng_below(&world->rng, 3) == 0) {
        flight->ops[at].kind = STORE_FORGET;
        after->held = false;
        return;
    }
    if (lifecycle_is_letter(after->state) && rng_below(&world->rng, 2) == 0) {
        add_mark(flight, at, after);
        return;
    }
    flight->ops[at].kind = STORE_UPDATE;
    after->why = 0;
    after->state = next_state(world, after->state);
    after->version = ++world->model.versions;
    if (rng_below(&world->rng, 2) == 0)
        after->body = after->version;
}

static bool used_before(const struct in_flight *flight, size_t at, size_t id) {
    for (size_t i = 0; i < at; i++) {
        if (flight->ids[i] == id)
            return true;
    }
    for (size_t i = 0; i < flight->world->model.open_count; i++) {
        const struct model_commit *open = &flight->world->model.open[i];
        for (size_t j = 0; j < open->count; j++) {
            if (open->changes[j].id == id)
                return true;
        }
    }
    return false;
}

/* A text that is kept from now on, or no more. */
static void add_keep(struct in_flight *flight, size_t at, size_t id, struct model_message *after) {
    struct world *world = flight->world;
    snprintf(flight->texts[at][0], sizeof flight->texts[at][0], "k%zu", id);
    *after = (struct model_message){.held = !after->held || rng_below(&world->rng, 2) == 0};
    flight->ops[at].kind = STORE_KEEP;
    flight->ops[at].keep =
        (struct store_keep){.space = SPACE_DONE, .name = bytes_of(flight->texts[at][0])};
    if (!after->held)
        return;
    after->version = ++world->model.versions;
    snprintf(flight->bodies[at], BODY_SMALL, "%u", after->version);
    flight->ops[at].keep.value = bytes_of(flight->bodies[at]);
}

/* The number, a point and padding: long, where it is to be large. */
static void fill_body(struct in_flight *flight, size_t at, uint32_t number) {
    struct world *world = flight->world;
    char *body = flight->bodies[at];
    bool large = has_large(world) && rng_below(&world->rng, 2) == 0;
    int len = snprintf(body, BODY_SMALL, "%u.", number);
    size_t want =
        large ? LARGE_ABOVE + 1 + rng_below(&world->rng, BODY_MAX - LARGE_ABOVE) : (size_t)len;
    memset(body + len, 'x', want - (size_t)len);
    body[want] = '\0';
    flight->ops[at].body = bytes_of(body);
}

/* The body that it has from now on, which the stored envelope names. */
static void fill_content(struct in_flight *flight, size_t at, struct model_message *after) {
    struct envelope *envelope = &flight->envelopes[at];
    if (flight->ops[at].body.ptr)
        after->size = (uint32_t)flight->ops[at].body.len;
    envelope->size = after->size;
    snprintf(envelope->content_hash, sizeof envelope->content_hash, "%064x", after->body);
}

static void add_message(struct in_flight *flight, size_t at, size_t id,
                        struct model_message *after) {
    uint32_t old_body = after->body;
    if (after->held)
        add_change(flight, at, after);
    else
        add_put(flight, at, after);
    fill_envelope(flight, at, id, after);
    flight->ops[at].envelope = &flight->envelopes[at];
    if (after->held && after->body != old_body)
        fill_body(flight, at, after->body);
    fill_content(flight, at, after);
}

/* One change of what no open commit changes. False: it was not one. */
static bool add_op(struct in_flight *flight, struct model_commit *expected) {
    struct world *world = flight->world;
    size_t at = flight->commit.count, id = rng_below(&world->rng, MODEL_IDS);
    if (used_before(flight, at, id))
        return false;
    struct model_message after = world->model.messages[id];
    flight->ids[at] = id;
    flight->ops[at].queue = world->queue;
    if (id < MODEL_MESSAGES)
        add_message(flight, at, id, &after);
    else
        add_keep(flight, at, id, &after);
    expected->alone |= has_large(world) && flight->ops[at].kind != STORE_FORGET;
    expected->changes[at].id = id;
    expected->changes[at].after = after;
    expected->count = ++flight->commit.count;
    return true;
}

static void submit(struct world *world) {
    if (world->model.open_count == MODEL_OPEN_MAX)
        return;
    struct in_flight *flight = calloc(1, sizeof *flight);
    flight->world = world;
    flight->commit.ops = flight->ops;
    flight->commit.done = answered;
    flight->commit.arg = flight;
    struct model_commit expected = {.count = 0};
    size_t wanted = 1 + rng_below(&world->rng, MODEL_COMMIT_MAX);
    for (size_t i = 0; i < wanted; i++)
        add_op(flight, &expected);
    if (flight->commit.count == 0) {
        free(flight);
        return;
    }
    flight->next = world->flights;
    world->flights = flight;
    world->model.open[world->model.open_count++] = expected;
    world->store->vtable->submit(world->store, &flight->commit);
    for (size_t i = 0; i < expected.count; i++) {
        if (flight->ops[i].kind == STORE_PUT)
            world->seqs[expected.changes[i].id] = flight->ops[i].seq;
    }
}

/* ---- looking ---- */

static struct model_message look_kept(struct world *world, size_t id) {
    char name[16];
    snprintf(name, sizeof name, "k%zu", id);
    struct arena arena;
    arena_init_heap(&arena, 64);
    struct bytes value;
    struct err err;
    uint64_t version = 0;
    enum status status = letters_note(world->store->letters, world->queue, SPACE_DONE,
                                      bytes_of(name), world->now.wall, &arena, &value, &err);
    assert_true(status == STATUS_NOT_FOUND || (status == STATUS_OK && bytes_u64(value, &version)));
    arena_free(&arena);
    return (struct model_message){.held = status == STATUS_OK, .version = (uint32_t)version};
}

static struct model_message look(struct world *world, size_t id) {
    char name[16];
    snprintf(name, sizeof name, "m%zu", id);
    struct message *held = NULL;
    struct err err;
    enum status status =
        letters_get(world->store->letters, BYTES("orders"), bytes_of(name), &held, &err);
    if (status == STATUS_NOT_FOUND)
        return (struct model_message){.held = false};
    if (status != STATUS_OK)
        fail_msg("seed %llu: %s cannot be read: %s", (unsigned long long)world->seed, name,
                 err.text);
    uint64_t body = 0, why = 0;
    assert_true(bytes_u64(bytes_cut(held->body, 0, bytes_find(held->body, BYTES("."))), &body));
    assert_int_equal(held->body.len, held->envelope.size);
    assert_true(held->envelope.why.len == 0 || bytes_u64(held->envelope.why, &why));
    struct model_message seen = {.held = true,
                                 .state = held->envelope.state,
                                 .version = held->envelope.attempts,
                                 .body = (uint32_t)body,
                                 .size = (uint32_t)held->body.len,
                                 .in_file = held->envelope.body_file.len > 0,
                                 .why = (uint32_t)why};
    world->seqs[id] = held->seq;
    message_free(held);
    return seen;
}

static void count_file(void *arg, const char *name) {
    (void)name;
    ++*(size_t *)arg;
}

/* After a start each file is some message's. */
static void compare_files(struct world *world, const struct model_message *seen) {
    struct disk *disk = sim_disk_port(world->disk);
    size_t wanted = 0, found = 0;
    for (size_t id = 0; id < MODEL_MESSAGES; id++)
        wanted += seen[id].held && seen[id].in_file;
    (void)disk->vtable->list(disk, "impound.db.large", count_file, &found);
    if (found != wanted)
        fail_msg("seed %llu: %zu files of large bodies, %zu messages that name one",
                 (unsigned long long)world->seed, found, wanted);
}

static void compare(struct world *world) {
    struct model_message seen[MODEL_IDS];
    for (size_t id = 0; id < MODEL_IDS; id++)
        seen[id] = id < MODEL_MESSAGES ? look(world, id) : look_kept(world, id);
    if (!model_adopt(&world->model, seen))
        fail_msg("seed %llu: what was recovered is not what was promised",
                 (unsigned long long)world->seed);
    compare_files(world, seen);
}

static void compare_counters(struct world *world) {
    size_t depth = 0, waiting = 0, letters = 0, by_state[STATE_COUNT] = {0};
    for (size_t id = 0; id < MODEL_MESSAGES; id++) {
        const struct model_message *message = &world->model.messages[id];
        letters += message->held && lifecycle_is_letter(message->state);
        by_state[message->state] += message->held && lifecycle_is_letter(message->state);
        depth += message->held && lifecycle_counts_in_depth(message->state);
        waiting += message->held &&
                   (lifecycle_is_live(message->state) || message->state == STATE_REPLAYING);
    }
    struct store_queue_counts counts;
    world->store->vtable->counts(world->store, world->queue, &counts);
    assert_int_equal(counts.queued + counts.pending_retry, waiting);
    assert_int_equal(world->store->vtable->dlq_depth(world->store, BYTES("orders.dlq")), depth);
    struct arena arena;
    struct letters_dlq dlq;
    arena_init_heap(&arena, 4096);
    enum status status = letters_dlq(world->store->letters, BYTES("orders.dlq"), (struct wall){0},
                                     &arena, &dlq, NULL);
    assert_true(status == STATUS_OK || letters == 0);
    for (int i = 0; status == STATUS_OK && i < STATE_COUNT; i++)
        assert_int_equal(dlq.by_state[i], by_state[i]);
    arena_free(&arena);
}

/* The file that people query says the same. */
static void compare_list(struct world *world) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct letters_page page;
    struct err err;
    struct letters_query query = {.limit = 2 * MODEL_MESSAGES};
    assert_int_equal(letters_list(world->store->letters, &query, &arena, &page, &err), STATUS_OK);
    assert_int_equal(page.unlisted, 0);
    size_t held = 0;
    for (size_t id = 0; id < MODEL_MESSAGES; id++)
        held += world->model.messages[id].held;
    assert_int_equal(page.count, held);
    for (size_t i = 0; i < page.count; i++) {
        struct envelope envelope;
        uint64_t id = 0;
        assert_int_equal(envelope_restore(page.rows[i].envelope, &arena, &envelope, &err),
                         STATUS_OK);
        assert_true(bytes_u64(bytes_cut(envelope.id, 1, envelope.id.len), &id) &&
                    id < MODEL_MESSAGES);
        assert_int_equal(envelope.attempts, world->model.messages[id].version);
        assert_int_equal(envelope.state, world->model.messages[id].state);
        uint64_t why = 0;
        assert_true(envelope.why.len == 0 || bytes_u64(envelope.why, &why));
        assert_int_equal(why, world->model.messages[id].why);
    }
    arena_free(&arena);
}

/* ---- lives ---- */

static void act(struct world *world) {
    world->now.wall.ms += 7;
    world->now.mono.ms += 7;
    switch (rng_below(&world->rng, 8)) {
    case 0:
        sqlite_store_fold(world->store);
        break;
    case 1:
    case 2:
    case 3:
        sqlite_store_step(world->store);
        break;
    case 4:
        if (rng_below(&world->rng, 8) == 0)
            sim_disk_fail_after(world->disk, rng_below(&world->rng, 4), 1, EIO);
        break;
    default:
        submit(world);
    }
}

static void live(struct world *world) {
    open_store(world);
    if (!sim_disk_is_dead(world->disk)) {
        sim_disk_crash_at(world->disk, 0);
        compare(world);
        compare_counters(world);
        compare_list(world);
    }
    sim_disk_crash_at(world->disk, 1 + rng_below(&world->rng, 150));
    for (int i = 0; i < ACTIONS && !sim_disk_is_dead(world->disk); i++)
        act(world);
    sqlite_store_crash(world->store);
    drop_flights(world);
    sim_disk_fail_after(world->disk, 0, 0, EIO);
    sim_disk_crash(world->disk);
}

static void what_was_acknowledged_survives_a_power_cut(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world = {
            .clock = {.now = read_clock}, .now = {{1700000000000}, {START_MS}}, .seed = seed};
        rng_seed(&world.rng, seed);
        world.disk = sim_disk_new(seed);
        world.vfs = sim_vfs_new(world.disk, seed);
        for (int i = 0; i < LIVES; i++)
            live(&world);
        sim_disk_crash_at(world.disk, 0);
        assert_int_equal(try_open(&world), STATUS_OK);
        world.queue = world.store->vtable->queue_number(world.store, BYTES("orders"));
        compare(&world);
        world.store->vtable->close(world.store);
        sim_vfs_free(world.vfs);
        sim_disk_free(world.disk);
    }
}

int main(void) {
    log_set_level(LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_acknowledged_survives_a_power_cut)};
    return cmocka_run_group_tests_name("store crash", tests, NULL, NULL);
}
