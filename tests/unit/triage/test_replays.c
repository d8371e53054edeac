/* Whole replays on made-up time: the store kept in memory, an engine that takes what is due and
 * says at once what became of it. */
#include <stdio.h>

#include "store/fake_store.h"
#include "test.h"
#include "triage/replay/replays.h"

enum { INCIDENT = 41000, RATE = 50, SECONDS_MAX = 2000, TAKE_MAX = 64, TEXT_MAX = 1 << 20 };

static struct store *store;
static struct triage triage;
static struct replays *replays;
static struct instant now;
static struct arena arena;
static struct err err;
static uint32_t queue_number;

/* What the world is like. */
static struct replay_queue orders;
static struct replay_dlq dlq;
static bool leads_nowhere;          /* no letter can go to its origin */
static unsigned served;             /* how often somebody asked for that */
static uint64_t handled, dies_from; /* letters handled so far; from this one on they die … */
static uint64_t hopeless, one_in;   /* … and so do the first so many, and one in so many */
static uint32_t seconds[SECONDS_MAX];
static uint8_t times_sent[INCIDENT];
static struct wall began;

/* The store's limits, and what was asked of it. */
static const struct store_vtable *real_store;
static struct store_vtable limited_store;
static size_t commit_bytes_max, largest_commit, largest_batch;
static enum status disk_says;

/* Programs that wait for an answer: each puts `edited` in the place of the body. */
static struct jq_job *jobs[INCIDENT];
static size_t job_count;
static struct bytes edited;

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return now;
}
static struct clock test_clock = {.now = read_clock};

static bool queue_is(void *arg, struct bytes name, struct replay_queue *out) {
    (void)arg;
    *out = orders;
    return bytes_is(name, "orders");
}

static void dlq_says(void *arg, struct bytes name, struct replay_dlq *out) {
    (void)arg;
    (void)name;
    *out = dlq;
}

static enum status origin_of(void *arg, const struct envelope *letter, char out[REPLAY_ORIGIN_SIZE],
                             struct err *trouble) {
    (void)arg;
    if (leads_nowhere)
        return err_set(trouble, STATUS_INVALID, "letter %.*s came from nowhere",
                       BYTES_ARG(letter->letter_id));
    snprintf(out, REPLAY_ORIGIN_SIZE, "kafka topic %.*s", BYTES_ARG(letter->queue));
    return STATUS_OK;
}

static void serve(void *arg, struct bytes queue) {
    (void)arg;
    assert_bytes(queue, "orders");
    served++;
}

/* ---- the store and the engine ---- */

static void assert_durable(struct store_commit *commit, enum status status) {
    (void)commit;
    assert_int_equal(status, STATUS_OK);
}

static void submit(struct store_op op) {
    struct store_commit commit = {.ops = &op, .count = 1, .done = assert_durable};
    store->vtable->submit(store, &commit);
}

static size_t bytes_of_op(const struct store_op *op) {
    return op->kind == STORE_KEEP ? op->keep.value.len : op->body.len;
}

/* As a store does whose journal takes no larger commits, or whose disk fails. */
static void submit_within_limits(struct store *self, struct store_commit *commit) {
    size_t bytes = 0, letters = 0;
    for (size_t i = 0; i < commit->count; i++) {
        bytes += bytes_of_op(&commit->ops[i]);
        letters += commit->ops[i].kind == STORE_UPDATE;
    }
    if (bytes > commit_bytes_max || disk_says != STATUS_OK) {
        enum status status = disk_says != STATUS_OK ? disk_says : STATUS_TOO_LARGE;
        err_set(&commit->err, status, "the disk says no");
        commit->done(commit, status);
        return;
    }
    if (bytes > largest_commit)
        largest_commit = bytes;
    if (letters > largest_batch)
        largest_batch = letters;
    real_store->submit(self, commit);
}

/* One that is only compiled is waited for. */
static void start_program(struct jq *jq, struct jq_job *job) {
    (void)jq;
    if (!job->input.ptr)
        job->done(job, STATUS_OK, false, BYTES_NONE, NULL);
    else
        jobs[job_count++] = job;
}

static void end_programs(void) {
    size_t count = job_count;
    job_count = 0;
    for (size_t i = 0; i < count; i++)
        jobs[i]->done(jobs[i], STATUS_OK, true, edited, NULL);
}

static const struct jq_vtable jq_vtable = {.start = start_program};
static struct jq test_jq = {&jq_vtable};

static const char *source_of_letters = "{\"kind\":\"builtin\"}";

static struct bytes body_of_letters;
static uint64_t fingerprint_before, fingerprint_after; /* of their deaths */

static void put_letter(unsigned number) {
    char id[32], letter_id[32];
    snprintf(id, sizeof id, "m-%u", number);
    snprintf(letter_id, sizeof letter_id, "l-%u", number);
    struct envelope envelope = {.id = bytes_of(id),
                                .letter_id = bytes_of(letter_id),
                                .queue = BYTES("orders"),
                                .dlq = BYTES("orders.dlq"),
                                .state = STATE_PENDING_REVIEW,
                                .reason = BYTES("timeout"),
                                .failed = fingerprint_before != 0,
                                .fingerprint = fingerprint_before,
                                .content_type = BYTES("application/json"),
                                .source = bytes_of(source_of_letters),
                                .retry_after_ms = -1,
                                .created_at = now.wall,
                                .dead_at = {now.wall.ms + number}};
    submit((struct store_op){
        .kind = STORE_PUT, .queue = queue_number, .envelope = &envelope, .body = body_of_letters});
}

static uint64_t number_of(const struct envelope *letter) {
    struct bytes id = letter->letter_id;
    uint64_t number;
    assert_true(bytes_u64(bytes_cut(id, 2, id.len), &number));
    return number;
}

static void note_second(const struct envelope *letter) {
    int64_t second = (now.wall.ms - began.ms) / 1000;
    assert_in_range(second, 0, SECONDS_MAX - 1);
    seconds[second]++;
    times_sent[number_of(letter)]++;
}

static void handle(struct message *held) {
    struct envelope *envelope = &held->envelope;
    note_second(envelope);
    bool dies = ++handled > dies_from || number_of(envelope) < hopeless ||
                (one_in > 0 && handled % one_in == 0);
    if (dies) {
        envelope->dead_at = now.wall;
        envelope->fingerprint = fingerprint_after;
    }
    envelope->state = dies ? STATE_PENDING_REVIEW : STATE_RESOLVED;
    envelope->next_attempt_at = WALL_NEVER;
    envelope->resolution = dies ? RESOLUTION_NONE : RESOLUTION_REPLAYED;
    submit((struct store_op){
        .kind = STORE_UPDATE, .queue = queue_number, .seq = held->seq, .envelope = envelope});
    replays_heard(replays, envelope);
}

static void engine_turn(void) {
    struct message *held[TAKE_MAX];
    size_t count;
    do {
        count = store->vtable->take(store, queue_number, TAKE_DUE, now, held, TAKE_MAX);
        for (size_t i = 0; i < count; i++) {
            handle(held[i]);
            message_free(held[i]);
        }
    } while (count == TAKE_MAX);
}

/* ---- driving ---- */

static void open_replays(void) {
    struct replay_around around = {
        .queue = queue_is, .dlq = dlq_says, .origin = origin_of, .serve = serve};
    replays = replays_new(&triage, &around);
    assert_int_equal(replays_recover(replays, &err), STATUS_OK);
}

static int start(void **state) {
    (void)state;
    now = (struct instant){{1763182181000}, {5000000}};
    began = now.wall;
    handled = 0;
    dies_from = UINT64_MAX;
    hopeless = one_in = fingerprint_before = fingerprint_after = 0;
    leads_nowhere = false;
    source_of_letters = "{\"kind\":\"builtin\"}";
    body_of_letters = BYTES("{}");
    served = 0;
    commit_bytes_max = SIZE_MAX;
    largest_commit = largest_batch = 0;
    disk_says = STATUS_OK;
    job_count = 0;
    memset(seconds, 0, sizeof seconds);
    memset(times_sent, 0, sizeof times_sent);
    orders = (struct replay_queue){.max_lag = 1000, .concurrency = 32};
    dlq = (struct replay_dlq){.max_replays = 3};
    store = fake_store_new(true);
    real_store = store->vtable;
    limited_store = *store->vtable;
    limited_store.submit = submit_within_limits;
    store->vtable = &limited_store;
    queue_number = store->vtable->queue_number(store, BYTES("orders"));
    triage_init(&triage, &test_clock, 7);
    triage.store = store;
    triage.jq = &test_jq;
    arena_init_heap(&arena, 4096);
    open_replays();
    return 0;
}

static int end(void **state) {
    (void)state;
    replays_free(replays);
    store->vtable->close(store);
    triage_free(&triage);
    arena_free(&arena);
    return 0;
}

static void put_letters(unsigned count) {
    for (unsigned i = 0; i < count; i++)
        put_letter(i);
}

static void choose_ids(struct replay_order *order, unsigned count) {
    struct bytes *ids = arena_alloc(&arena, count * sizeof *ids);
    for (unsigned i = 0; i < count; i++) {
        char id[32];
        snprintf(id, sizeof id, "l-%u", i);
        ids[i] = arena_dup(&arena, bytes_of(id));
    }
    replay_order_init(order);
    order->selection.ids = ids;
    order->selection.id_count = count;
    order->who = BYTES("ada");
    assert_int_equal(selection_finish(&order->selection, &err), STATUS_OK);
}

/* A replay of so many letters, which are put. */
static struct replay_order order_of(unsigned count) {
    struct replay_order order;
    put_letters(count);
    choose_ids(&order, count);
    return order;
}

static void begin(const struct replay_order *order, char id[UUID_TEXT_SIZE]) {
    if (replays_start(replays, order, id, &err) != STATUS_OK)
        fail_msg("%s", err.text);
}

/* One step at the time that the last one asked for. */
static void step(void) {
    struct mono next = replays_step(replays, now);
    engine_turn();
    end_programs();
    int64_t gap = next.ms == MONO_NEVER.ms ? 1 : next.ms - now.mono.ms;
    gap = gap < 1 ? 1 : gap > 1000 ? 1000 : gap;
    now.mono.ms += gap;
    now.wall.ms += gap;
}

/* The replay as people see it; in the arena. */
static struct json shown(const char *id) {
    struct json json;
    struct buf out;
    buf_init_heap(&out, TEXT_MAX);
    assert_int_equal(replays_show(replays, bytes_of(id), 0, 0, &out, &err), STATUS_OK);
    assert_int_equal(json_parse(arena_dup(&arena, buf_view(&out)), &json, NULL), STATUS_OK);
    buf_free(&out);
    return json;
}

static struct bytes text_at(struct json object, const char *name) {
    struct json value;
    struct bytes text = BYTES("");
    if (json_get(object, name, &value))
        json_string(value, &arena, &text);
    return text;
}

static int64_t number_at(struct json object, const char *name) {
    struct json value;
    int64_t number = -1;
    if (json_get(object, name, &value))
        json_i64(value, &number);
    return number;
}

static bool is_over(const char *id) {
    struct bytes state = text_at(shown(id), "state");
    return bytes_is(state, "done") || bytes_is(state, "aborted");
}

static void run_for(int64_t ms) {
    for (int64_t until = now.mono.ms + ms; now.mono.ms < until;)
        step();
}

static struct json run_to_end(const char *id) {
    for (int i = 0; i < 10 * SECONDS_MAX && !is_over(id); i++)
        run_for(1000);
    assert_true(is_over(id));
    run_for(3000);
    return shown(id);
}

/* ---- what is promised ---- */

static void an_incident_is_replayed_at_its_rate_and_in_no_second_faster(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(INCIDENT);
    begin(&order, id);
    struct json replay = run_to_end(id);
    assert_bytes(text_at(replay, "state"), "done");
    assert_int_equal(number_at(replay, "resolved"), INCIDENT);
    /* 10, 20 and 40 a second for ten seconds each; then the rate, until the last second. */
    uint64_t after_ramp = 0;
    size_t last = SECONDS_MAX - 1;
    while (seconds[last] == 0)
        last--;
    for (size_t i = 0; i < last; i++) {
        assert_true(seconds[i] <= RATE * 11 / 10);
        if (i > 31)
            after_ramp += seconds[i];
    }
    double rate = (double)after_ramp / (double)(last - 32);
    assert_true(rate > RATE * 0.98 && rate < RATE * 1.02);
    for (size_t i = 0; i < INCIDENT; i++)
        assert_int_equal(times_sent[i], 1);
}

static void a_new_life_goes_on_where_the_last_one_was_killed(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(3000);
    begin(&order, id);
    for (int lives = 0; lives < 5; lives++) {
        run_for(9000 + 777 * lives);
        replays_free(replays); /* it writes nothing on its way out */
        open_replays();
    }
    struct json replay = run_to_end(id);
    assert_bytes(text_at(replay, "state"), "done");
    assert_int_equal(number_at(replay, "resolved"), 3000);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(times_sent[i], 1);
}

static void whoever_orders_it_may_name_it_and_keep_a_note_of_it(void **state) {
    (void)state;
    struct replay_order order;
    struct replays_end outcome;
    char id[UUID_TEXT_SIZE], chosen[UUID_TEXT_SIZE];
    struct bytes kept;
    put_letters(20);
    choose_ids(&order, 20);
    triage_new_id(&triage, now.wall, chosen);
    order.id = bytes_of(chosen);
    order.note = (struct store_keep){
        .space = SPACE_TRIAGE, .name = BYTES("orders.dlq/0"), .value = BYTES("{\"at\":1}")};
    begin(&order, id);
    assert_string_equal(id, chosen);
    assert_int_equal(letters_note(store->letters, 0, SPACE_TRIAGE, BYTES("orders.dlq/0"), now.wall,
                                  &arena, &kept, &err),
                     STATUS_OK);
    assert_bytes(kept, "{\"at\":1}");
    assert_int_equal(replays_ended(replays, bytes_of(id), &outcome, &err), STATUS_OK);
    assert_false(outcome.over);
    assert_true(replays_claim(replays, BYTES("l-19")));
    assert_false(replays_claim(replays, BYTES("l-20")));
    run_to_end(id);
    assert_int_equal(replays_ended(replays, bytes_of(id), &outcome, &err), STATUS_OK);
    assert_true(outcome.over && !outcome.aborted);
    assert_int_equal(outcome.counts.by[REPLAYED_RESOLVED], 20);
    assert_false(replays_claim(replays, BYTES("l-19")));
    assert_int_equal(replays_ended(replays, BYTES("nobody"), &outcome, &err), STATUS_NOT_FOUND);
}

static void letters_are_sent_oldest_first(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(5);
    order.canary_count = 0;
    order.rate.value = 1;
    begin(&order, id);
    for (unsigned i = 0; i < 5; i++) {
        while (handled <= i)
            step();
        assert_int_equal(times_sent[i], 1);
    }
}

static void a_canary_that_dies_leaves_the_rest_untouched(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(1000);
    dies_from = 0;
    begin(&order, id);
    struct json replay = run_to_end(id);
    assert_bytes(text_at(replay, "state"), "aborted");
    assert_int_equal(number_at(replay, "sent"), 1);
    assert_int_equal(handled, 1);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), 1000);
}

/* The alert is due also when the life that stopped it ends before anybody was told. */
static void a_new_life_knows_which_replays_stopped_themselves(void **state) {
    (void)state;
    char died[UUID_TEXT_SIZE], stopped[UUID_TEXT_SIZE];
    struct replays_relapse relapses[REPLAYS_RELAPSES_MAX];
    struct replay_order order = order_of(20);
    dies_from = 0;
    begin(&order, died);
    run_to_end(died);
    begin(&order, stopped);
    assert_int_equal(replays_change(replays, bytes_of(stopped), REPLAY_ABORT, BYTES("ada"),
                                    BYTES("not yet"), &err),
                     STATUS_OK);
    run_to_end(stopped);
    assert_int_equal(replays_relapses(replays, relapses), 1);
    struct wall at = relapses[0].at;
    replays_free(replays);
    open_replays();
    assert_int_equal(replays_relapses(replays, relapses), 1);
    assert_string_equal(relapses[0].id, died);
    assert_string_equal(relapses[0].queue, "orders");
    assert_non_null(strstr(relapses[0].why, "the canary died"));
    assert_int_equal(relapses[0].at.ms, at.ms);
}

static void a_death_in_the_second_stage_stops_it_at_eleven(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(100);
    dies_from = 1;
    begin(&order, id);
    struct json replay = run_to_end(id);
    assert_bytes(text_at(replay, "state"), "aborted");
    assert_in_range(number_at(replay, "sent"), 2, 11);
    assert_int_equal(handled, number_at(replay, "sent"));
}

static void it_waits_while_its_queue_cannot_take_anything(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(200);
    snprintf(orders.blocked, sizeof orders.blocked, "queue orders is halted");
    begin(&order, id);
    run_for(5000);
    assert_bytes(text_at(shown(id), "state"), "waiting");
    assert_bytes(text_at(shown(id), "why"), "queue orders is halted");
    assert_int_equal(handled, 0);
    orders.blocked[0] = '\0';
    orders.lag = orders.max_lag + 1;
    run_for(5000);
    assert_bytes(text_at(shown(id), "state"), "waiting");
    assert_int_equal(handled, 0);
    orders.lag = orders.max_lag;
    assert_bytes(text_at(run_to_end(id), "state"), "done");
}

static void letters_for_their_origin_wait_while_it_has_too_many(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(50);
    order.to = BYTES("origin");
    orders.lag = orders.max_lag + 1;
    begin(&order, id);
    run_for(5000);
    assert_bytes(text_at(shown(id), "why"), "the queue's lag is 1001, above max_lag 1000");
    assert_int_equal(handled, 0);
    orders.lag = 0;
    assert_int_equal(number_at(run_to_end(id), "resolved"), 50);
}

static void see_versions(const char *first, const char *second) {
    orders.version_count = (first != NULL) + (second != NULL);
    snprintf(orders.versions[0], VERSION_TEXT_MAX, "%s", first ? first : "");
    snprintf(orders.versions[1], VERSION_TEXT_MAX, "%s", second ? second : "");
}

static void it_waits_for_the_version_of_its_consumers(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(50);
    order.when_version = BYTES(">= 1.4");
    begin(&order, id);
    run_for(1000);
    assert_bytes(text_at(shown(id), "state"), "waiting");
    assert_bytes(text_at(shown(id), "why"),
                 "it waits for consumers of version >= 1.4; seen: none yet");
    see_versions("1.3.9", "1.4.0");
    replays_free(replays); /* a new life waits for the same */
    open_replays();
    run_for(1000);
    assert_bytes(text_at(shown(id), "when_version"), ">= 1.4");
    assert_bytes(text_at(shown(id), "why"),
                 "it waits for consumers of version >= 1.4; seen: 1.3.9, 1.4.0");
    assert_int_equal(handled, 0);
    see_versions("1.4.1", "1.4.0");
    assert_int_equal(number_at(run_to_end(id), "resolved"), 50);
}

static void a_version_that_is_none_is_refused(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(1);
    order.when_version = BYTES("1.4");
    assert_int_equal(replays_start(replays, &order, id, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "when_version: \"1.4\" must be such as \">= 1.4\""));
}

static void a_share_of_the_usual_traffic_is_the_rate(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(400);
    order.rate = (struct replay_rate){REPLAY_RATE_SHARE, 15};
    order.canary_count = 0;
    order.ramp = false;
    orders.usual_per_second = 40; /* 6/s */
    begin(&order, id);
    run_for(30000);
    assert_in_range(handled, 30 * 6 - 4, 30 * 6 + 4);
}

static void what_the_store_refuses_is_sent_later_and_once(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(50);
    order.rate.kind = REPLAY_RATE_UNLIMITED;
    begin(&order, id);
    for (int i = 0; i < 30; i++) {
        fake_store_fail(store, STATUS_FULL, 1);
        replays_step(replays, now);
        fake_store_fail(store, STATUS_OK, 0);
        replays_step(replays, now);
        now.mono.ms += 400;
        now.wall.ms += 400;
        run_for(50);
    }
    assert_int_equal(number_at(run_to_end(id), "resolved"), 50);
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(times_sent[i], 1);
}

/* ---- letters that die again ---- */

/* One in sixty dies: fewer than 5 % of the last 30 s. */
static struct json replay_with_deaths(uint64_t before, uint64_t after, char id[UUID_TEXT_SIZE]) {
    fingerprint_before = before;
    fingerprint_after = after;
    one_in = 60;
    struct replay_order order = order_of(3000);
    begin(&order, id);
    return run_to_end(id);
}

static void the_same_failure_past_the_canary_aborts_it(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct json replay = replay_with_deaths(0xabc, 0xabc, id);
    assert_bytes(text_at(replay, "state"), "aborted");
    assert_true(bytes_starts(text_at(replay, "why"), BYTES("the same failure comes back: 3 of")));
    assert_in_range(number_at(replay, "sent"), 180, 250);
    assert_int_equal(handled, number_at(replay, "sent"));
}

static void other_failures_past_the_canary_are_borne(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct json replay = replay_with_deaths(0xabc, 0xdef, id);
    assert_bytes(text_at(replay, "state"), "done");
    assert_int_equal(number_at(replay, "failed"), 3000 / 60);
}

/* What a triage rule orders: hopeless letters leave the others alone. */
static void unguarded_each_letter_is_judged_by_itself(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    fingerprint_before = fingerprint_after = 0xabc;
    hopeless = 4;
    struct replay_order order = order_of(24);
    order.canary_count = 0;
    order.guarded = false;
    begin(&order, id);
    run_for(100);
    replays_free(replays); /* a new life knows that it is not guarded */
    open_replays();
    struct json replay = run_to_end(id);
    assert_bytes(text_at(replay, "state"), "done");
    assert_int_equal(number_at(replay, "failed"), 4);
    assert_int_equal(number_at(replay, "resolved"), 20);
}

/* ---- which letters a limit takes ---- */

static void check_limit(bool newest, unsigned first, const char *shown_as) {
    char id[UUID_TEXT_SIZE];
    struct replay_order order;
    put_letters(9);
    replay_order_init(&order);
    order.selection.all = true;
    order.selection.limit = 4;
    order.selection.newest = order.selection.has_order = newest;
    order.rate.value = 1;
    order.canary_count = 0;
    assert_int_equal(selection_finish(&order.selection, &err), STATUS_OK);
    begin(&order, id);
    assert_bytes(text_at(shown(id), "order"), shown_as);
    for (unsigned i = 0; i < 4; i++) {
        while (handled <= i)
            step();
        assert_int_equal(times_sent[first + i], 1); /* the oldest of them is sent first */
        replays_free(replays);
        open_replays();
    }
    assert_int_equal(number_at(run_to_end(id), "resolved"), 4);
    assert_int_equal(handled, 4);
}

static void a_limit_takes_the_oldest(void **state) {
    (void)state;
    check_limit(false, 0, "oldest");
}

static void a_limit_takes_the_newest_where_that_is_ordered(void **state) {
    (void)state;
    check_limit(true, 5, "newest");
}

static void an_order_without_a_limit_is_refused(void **state) {
    (void)state;
    struct selection selection;
    selection_init(&selection);
    selection.all = selection.has_order = selection.newest = true;
    assert_int_equal(selection_finish(&selection, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "only with limit"));
}

/* ---- large letters ---- */

static struct bytes large_body(size_t len) {
    char *text = arena_alloc(&arena, len);
    memset(text, 'x', len);
    text[0] = text[len - 1] = '"';
    return (struct bytes){text, len};
}

/* So many letters of that size, which get a body of another size. */
static struct replay_order order_of_large(unsigned count, size_t before, size_t after) {
    body_of_letters = large_body(before);
    edited = large_body(after);
    struct replay_order order = order_of(count);
    order.canary_count = 0;
    order.rate.kind = REPLAY_RATE_UNLIMITED;
    return order;
}

static void begin_edited(struct replay_order *order, char id[UUID_TEXT_SIZE]) {
    order->edit = BYTES(".model = \"m2\"");
    begin(order, id);
}

static void commits_of_large_letters_are_bounded_by_their_bytes(void **state) {
    (void)state;
    enum { LETTERS = 100, SIZE = 512 * 1024 };
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of_large(LETTERS, SIZE, SIZE + 1);
    begin_edited(&order, id);
    largest_commit = largest_batch = 0;
    assert_int_equal(number_at(run_to_end(id), "resolved"), LETTERS);
    assert_in_range(largest_commit, SIZE, STORE_COMMIT_BYTES);
    assert_in_range(largest_batch, 2, STORE_COMMIT_BYTES / (2 * SIZE));
}

static void a_commit_that_is_too_large_is_split(void **state) {
    (void)state;
    enum { LETTERS = 40, SIZE = 100 * 1024, TAKEN = 450 * 1024 };
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of_large(LETTERS, SIZE, SIZE + 1);
    commit_bytes_max = TAKEN;
    begin_edited(&order, id);
    assert_int_equal(number_at(run_to_end(id), "resolved"), LETTERS);
    for (size_t i = 0; i < LETTERS; i++)
        assert_int_equal(times_sent[i], 1);
}

/* The body and its original do not fit into one commit, but each does. */
static void a_letter_too_large_for_one_commit_is_sent_in_two(void **state) {
    (void)state;
    enum { LETTERS = 3, SIZE = 300 * 1024, TAKEN = 450 * 1024 };
    char id[UUID_TEXT_SIZE];
    struct bytes original;
    struct replay_order order = order_of_large(LETTERS, SIZE, SIZE + 1);
    commit_bytes_max = TAKEN;
    begin_edited(&order, id);
    assert_int_equal(number_at(run_to_end(id), "resolved"), LETTERS);
    for (size_t i = 0; i < LETTERS; i++)
        assert_int_equal(times_sent[i], 1);
    assert_int_equal(letters_note(store->letters, 0, SPACE_ORIGINAL, BYTES("l-1"), now.wall, &arena,
                                  &original, &err),
                     STATUS_OK);
    assert_int_equal(original.len, SIZE);
}

static void a_body_that_no_commit_takes_is_skipped_and_the_others_go_on(void **state) {
    (void)state;
    enum { LETTERS = 3, TAKEN = 450 * 1024 };
    char id[UUID_TEXT_SIZE];
    struct buf out;
    struct replay_order order = order_of_large(LETTERS, 1000, TAKEN + 1);
    commit_bytes_max = TAKEN;
    begin_edited(&order, id);
    struct json replay = run_to_end(id);
    assert_bytes(text_at(replay, "state"), "done");
    assert_int_equal(number_at(replay, "skipped"), LETTERS);
    assert_int_equal(handled, 0);
    buf_init_heap(&out, TEXT_MAX);
    assert_int_equal(replays_show(replays, bytes_of(id), 0, 10, &out, &err), STATUS_OK);
    assert_true(bytes_find(buf_view(&out), BYTES("too large for one commit of the store")) <
                out.len);
    buf_free(&out);
}

static void while_the_store_refuses_commits_it_says_so_and_then_goes_on(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(50);
    order.canary_count = 0;
    begin(&order, id);
    disk_says = STATUS_IO;
    run_for(5000);
    assert_bytes(text_at(shown(id), "state"), "waiting");
    assert_true(bytes_find(text_at(shown(id), "why"), BYTES("the disk says no")) <
                text_at(shown(id), "why").len);
    assert_int_equal(handled, 0);
    disk_says = STATUS_OK;
    assert_int_equal(number_at(run_to_end(id), "resolved"), 50);
    assert_bytes(text_at(shown(id), "why"), "");
}

static void what_was_ready_when_it_was_aborted_is_not_sent(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_of(50);
    order.canary_count = 0;
    order.rate.kind = REPLAY_RATE_UNLIMITED;
    begin(&order, id);
    disk_says = STATUS_IO;
    run_for(3000);
    disk_says = STATUS_OK;
    assert_int_equal(
        replays_change(replays, bytes_of(id), REPLAY_ABORT, BYTES("ada"), BYTES("enough"), &err),
        STATUS_OK);
    struct json replay = run_to_end(id);
    assert_int_equal(number_at(replay, "sent"), 0);
    assert_int_equal(handled, 0);
}

static void letters_that_were_replayed_too_often_are_escalated(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct message *held;
    struct replay_order order = order_of(3);
    dlq.max_replays = 0;
    begin(&order, id);
    struct json replay = run_to_end(id);
    assert_int_equal(number_at(replay, "skipped"), 3);
    assert_int_equal(handled, 0);
    assert_int_equal(letters_get(store->letters, BYTES_NONE, BYTES("l-1"), &held, &err), STATUS_OK);
    assert_int_not_equal(held->envelope.escalated_at.ms, WALL_NEVER.ms);
    assert_int_equal(held->envelope.state, STATE_PENDING_REVIEW);
    message_free(held);
}

static void a_letter_that_somebody_decides_meanwhile_is_skipped(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct message *held;
    struct replay_order order = order_of(3);
    begin(&order, id);
    assert_int_equal(letters_get(store->letters, BYTES_NONE, BYTES("l-2"), &held, &err), STATUS_OK);
    submit((struct store_op){.kind = STORE_MARK,
                             .queue = queue_number,
                             .seq = held->seq,
                             .mark = {.state = STATE_DISCARDED, .why = BYTES("x")}});
    message_free(held);
    struct json replay = run_to_end(id);
    assert_int_equal(number_at(replay, "resolved"), 2);
    assert_int_equal(number_at(replay, "skipped"), 1);
    assert_int_equal(times_sent[2], 0);
}

static void a_second_replay_of_a_letter_names_the_first(void **state) {
    (void)state;
    char first[UUID_TEXT_SIZE], second[UUID_TEXT_SIZE];
    struct replay_order order = order_of(3);
    begin(&order, first);
    assert_int_equal(replays_start(replays, &order, second, &err), STATUS_CONFLICT);
    assert_true(bytes_find(bytes_of(err.text), bytes_of(first)) < strlen(err.text));
    assert_int_equal(
        replays_change(replays, bytes_of(first), REPLAY_ABORT, BYTES("ada"), BYTES("enough"), &err),
        STATUS_OK);
    assert_int_equal(replays_start(replays, &order, second, &err), STATUS_OK);
    assert_bytes(text_at(run_to_end(second), "state"), "done");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

/* ---- to their origin ---- */

/* A letter that is resolved comes back from its origin, and dies. */
static void come_back_dead(unsigned number) {
    char id[32];
    struct message *held;
    snprintf(id, sizeof id, "l-%u", number);
    assert_int_equal(letters_get(store->letters, BYTES("orders"), bytes_of(id), &held, &err),
                     STATUS_OK);
    assert_int_equal(held->envelope.state, STATE_RESOLVED);
    held->envelope.state = STATE_PENDING_REVIEW;
    held->envelope.dead_at = now.wall;
    held->envelope.to_origin = false;
    submit((struct store_op){.kind = STORE_UPDATE,
                             .queue = queue_number,
                             .seq = held->seq,
                             .envelope = &held->envelope});
    replays_heard(replays, &held->envelope);
    message_free(held);
}

static struct replay_order order_to_origin(unsigned count) {
    struct replay_order order = order_of(count);
    order.to = BYTES("origin");
    return order;
}

static void a_plan_says_where_letters_came_from(void **state) {
    (void)state;
    struct replay_order order = order_to_origin(3);
    struct json plan, rows;
    struct buf out;
    buf_init_heap(&out, TEXT_MAX);
    assert_int_equal(replays_plan(replays, &order, &out, &err), STATUS_OK);
    assert_int_equal(json_parse(buf_view(&out), &plan, NULL), STATUS_OK);
    assert_true(json_get(plan, "destinations", &rows));
    struct json_walk walk = json_walk(rows);
    assert_true(json_step(&walk));
    assert_bytes(text_at(walk.value, "origin"), "kafka topic orders");
    assert_int_equal(number_at(walk.value, "count"), 3);
    assert_false(json_step(&walk));
    buf_free(&out);
}

static void letters_that_cannot_go_there_are_refused_before_anything_is_sent(void **state) {
    (void)state;
    struct replay_order order = order_to_origin(3);
    char id[UUID_TEXT_SIZE];
    struct buf out;
    leads_nowhere = true;
    buf_init_heap(&out, TEXT_MAX);
    assert_int_equal(replays_plan(replays, &order, &out, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "came from nowhere"));
    assert_int_equal(replays_start(replays, &order, id, &err), STATUS_INVALID);
    run_for(3000);
    assert_int_equal(handled, 0);
    buf_free(&out);
}

/* What it points at may be somebody else's message, which has not died. */
static void a_letter_in_doubt_does_not_go_to_its_origin_unseen(void **state) {
    (void)state;
    struct replay_order order;
    char id[UUID_TEXT_SIZE];
    struct envelope envelope = {.id = BYTES("m-0"),
                                .letter_id = BYTES("l-0"),
                                .queue = BYTES("orders"),
                                .dlq = BYTES("orders.dlq"),
                                .source = BYTES("{\"kind\":\"kafka\",\"why\":\"it is younger\"}"),
                                .state = STATE_PENDING_REVIEW};
    submit((struct store_op){
        .kind = STORE_PUT, .queue = queue_number, .envelope = &envelope, .body = BYTES("{}")});
    choose_ids(&order, 1);
    order.to = BYTES("origin");
    assert_int_equal(replays_start(replays, &order, id, &err), STATUS_INVALID);
    assert_non_null(
        strstr(err.text, "letter l-0 may have the body of another message: it is younger"));
}

static void letters_whose_messages_are_gone_are_refused_unless_they_get_a_body(void **state) {
    (void)state;
    static const char *const sources[] = {
        "{\"kind\":\"kafka\",\"gone\":true}",
        "{\"kind\":\"kafka\",\"origin\":{\"gone\":true}}",
    };
    for (size_t i = 0; i < 2; i++) {
        source_of_letters = sources[i];
        put_letter(i);
    }
    struct replay_order order;
    char id[UUID_TEXT_SIZE];
    struct buf out;
    buf_init_heap(&out, TEXT_MAX);
    for (unsigned count = 1; count <= 2; count++) {
        choose_ids(&order, count);
        assert_int_equal(replays_plan(replays, &order, &out, &err), STATUS_INVALID);
        assert_int_equal(replays_start(replays, &order, id, &err), STATUS_INVALID);
        assert_non_null(strstr(err.text, "was gone before it could be read"));
        assert_non_null(strstr(err.text, "`edit`"));
    }
    run_for(3000);
    assert_int_equal(handled, 0);
    buf_free(&out);
}

static void a_letter_of_no_queue_is_refused_and_told_of_its_origin(void **state) {
    (void)state;
    struct replay_order order;
    char id[UUID_TEXT_SIZE];
    struct envelope envelope = {.id = BYTES("m-0"),
                                .letter_id = BYTES("l-0"),
                                .queue = BYTES("elsewhere"),
                                .dlq = BYTES("legacy.dlq"),
                                .state = STATE_PENDING_REVIEW};
    submit((struct store_op){.kind = STORE_PUT,
                             .queue = store->vtable->queue_number(store, BYTES("elsewhere")),
                             .envelope = &envelope,
                             .body = BYTES("{}")});
    choose_ids(&order, 1);
    assert_int_equal(replays_start(replays, &order, id, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "queue \"elsewhere\", which is not in the configuration"));
    assert_non_null(strstr(err.text, "to: \"origin\""));
}

static void letters_go_with_their_mark_and_their_round_waits(void **state) {
    (void)state;
    struct replay_order order = order_to_origin(1);
    char id[UUID_TEXT_SIZE];
    struct message *held;
    begin(&order, id);
    replays_step(replays, now);
    replays_step(replays, now);
    assert_int_equal(letters_get(store->letters, BYTES("orders"), BYTES("l-0"), &held, &err),
                     STATUS_OK);
    assert_int_equal(held->envelope.state, STATE_REPLAYING);
    assert_true(held->envelope.to_origin);
    assert_int_equal(held->envelope.replays, 1);
    message_free(held);
    assert_int_equal(served, 1);
    assert_bytes(text_at(run_to_end(id), "state"), "done");
    assert_bytes(text_at(shown(id), "to"), "origin");
}

static void it_waits_while_the_source_is_away(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_to_origin(200);
    snprintf(orders.cut_off, sizeof orders.cut_off, "the source of queue orders is away");
    begin(&order, id);
    run_for(5000);
    assert_bytes(text_at(shown(id), "state"), "waiting");
    assert_bytes(text_at(shown(id), "why"), "the source of queue orders is away");
    orders.cut_off[0] = '\0';
    assert_bytes(text_at(run_to_end(id), "state"), "done");
}

static void letters_that_come_back_dead_stop_it(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_to_origin(1000);
    begin(&order, id);
    while (handled < 50)
        step();
    for (unsigned i = 20; i < 30; i++)
        come_back_dead(i);
    struct json replay = run_to_end(id);
    assert_bytes(text_at(replay, "state"), "aborted");
    assert_true(bytes_starts(text_at(replay, "why"), BYTES("letters come back: 10 of the ")));
    assert_int_equal(number_at(replay, "failed"), 10);
    assert_int_equal(number_at(replay, "resolved"), number_at(replay, "sent") - 10);
    assert_true(handled < 1000);
}

static void one_that_comes_back_dead_in_the_canary_stops_it(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_to_origin(100);
    order.canary[0] = 5;
    order.canary_count = 1;
    begin(&order, id);
    while (handled < 5)
        step();
    come_back_dead(0);
    struct json replay = run_to_end(id);
    assert_bytes(text_at(replay, "state"), "aborted");
    assert_int_equal(number_at(replay, "sent"), 5);
}

static void one_that_comes_back_late_stops_nothing(void **state) {
    (void)state;
    char id[UUID_TEXT_SIZE];
    struct replay_order order = order_to_origin(400);
    order.rate.value = 5;
    begin(&order, id);
    while (handled < 30)
        step();
    run_for(40000);
    for (unsigned i = 15; i < 25; i++)
        come_back_dead(i);
    struct json replay = run_to_end(id);
    assert_bytes(text_at(replay, "state"), "done");
    assert_int_equal(number_at(replay, "resolved"), 400);
}

static void a_new_life_sees_to_letters_on_their_way_there(void **state) {
    (void)state;
    struct replay_order order = order_to_origin(30);
    char id[UUID_TEXT_SIZE];
    begin(&order, id);
    while (number_at(shown(id), "sent") < 5) {
        replays_step(replays, now);
        if (number_at(shown(id), "sent") < 5)
            engine_turn();
        now.mono.ms += 20;
        now.wall.ms += 20;
    }
    replays_free(replays);
    served = 0;
    open_replays();
    assert_true(served > 0);
    assert_int_equal(number_at(run_to_end(id), "resolved"), 30);
    for (size_t i = 0; i < 30; i++)
        assert_int_equal(times_sent[i], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_incident_is_replayed_at_its_rate_and_in_no_second_faster),
        TEST(a_new_life_goes_on_where_the_last_one_was_killed),
        TEST(whoever_orders_it_may_name_it_and_keep_a_note_of_it),
        TEST(letters_are_sent_oldest_first),
        TEST(a_canary_that_dies_leaves_the_rest_untouched),
        TEST(a_new_life_knows_which_replays_stopped_themselves),
        TEST(a_death_in_the_second_stage_stops_it_at_eleven),
        TEST(it_waits_while_its_queue_cannot_take_anything),
        TEST(letters_for_their_origin_wait_while_it_has_too_many),
        TEST(it_waits_for_the_version_of_its_consumers),
        TEST(a_version_that_is_none_is_refused),
        TEST(a_share_of_the_usual_traffic_is_the_rate),
        TEST(what_the_store_refuses_is_sent_later_and_once),
        TEST(the_same_failure_past_the_canary_aborts_it),
        TEST(other_failures_past_the_canary_are_borne),
        TEST(unguarded_each_letter_is_judged_by_itself),
        TEST(a_limit_takes_the_oldest),
        TEST(a_limit_takes_the_newest_where_that_is_ordered),
        TEST(an_order_without_a_limit_is_refused),
        TEST(commits_of_large_letters_are_bounded_by_their_bytes),
        TEST(a_commit_that_is_too_large_is_split),
        TEST(a_letter_too_large_for_one_commit_is_sent_in_two),
        TEST(a_body_that_no_commit_takes_is_skipped_and_the_others_go_on),
        TEST(while_the_store_refuses_commits_it_says_so_and_then_goes_on),
        TEST(what_was_ready_when_it_was_aborted_is_not_sent),
        TEST(letters_that_were_replayed_too_often_are_escalated),
        TEST(a_letter_that_somebody_decides_meanwhile_is_skipped),
        TEST(a_second_replay_of_a_letter_names_the_first),
        TEST(a_plan_says_where_letters_came_from),
        TEST(letters_that_cannot_go_there_are_refused_before_anything_is_sent),
        TEST(a_letter_in_doubt_does_not_go_to_its_origin_unseen),
        TEST(letters_whose_messages_are_gone_are_refused_unless_they_get_a_body),
        TEST(a_letter_of_no_queue_is_refused_and_told_of_its_origin),
        TEST(letters_go_with_their_mark_and_their_round_waits),
        TEST(it_waits_while_the_source_is_away),
        TEST(letters_that_come_back_dead_stop_it),
        TEST(one_that_comes_back_dead_in_the_canary_stops_it),
        TEST(one_that_comes_back_late_stops_nothing),
        TEST(a_new_life_sees_to_letters_on_their_way_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
