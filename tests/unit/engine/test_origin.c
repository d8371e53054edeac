/* Letters that go to their origin, and come back from there. */
#include "rig_sink.h"

#include <stdio.h>
#include <string.h>

#include "fake_broker.h"
#include "core/comeback.h"

enum { DRAIN_MS = 100 };

static struct rig *rig_with(struct rig_sink *sink, struct rig_options options) {
    options.server = true;
    struct rig *rig = rig_new(options);
    rig_sink_init(sink);
    rig->origin = &sink->sink;
    rig_open(rig);
    return rig;
}

/* What a replay's commit does. */
static void send(struct rig *rig, const char *id, const char *queue) {
    struct envelope letter = *rig_look(rig, id);
    letter.state = STATE_REPLAYING;
    letter.to_origin = true;
    letter.replays++;
    letter.replay = BYTES("r1");
    letter.next_attempt_at = rig->now.wall;
    struct store_op op = {.kind = STORE_UPDATE,
                          .queue = rig->store->vtable->queue_number(rig->store, bytes_of(queue)),
                          .seq = rig->looked_at->seq,
                          .envelope = &letter,
                          .from = 1u << STATE_PENDING_REVIEW};
    rig_commit(rig, &op);
    rig_rest(rig);
}

/* A message of "q" that died, with a key and a body of its own. */
static void die(struct rig *rig, const char *id) {
    fake_server_push(rig->server, id, "k1", BYTES("{\"pin\":1}"));
    rig_rest(rig);
    rig_fail(rig, id, 400);
    rig_clear_log(rig);
}

/* Died, and published to its origin; that this is recorded is up to the caller. */
static void die_and_go(struct rig *rig, struct rig_sink *sink, const char *id) {
    die(rig, id);
    send(rig, id, "q");
    assert_int_equal(sink->count, 1);
}

static struct bytes header(const struct sink_item *item, const char *name) {
    for (size_t i = 0; i < item->header_count; i++)
        if (bytes_is(item->headers[i].name, name))
            return item->headers[i].value;
    return BYTES_NONE;
}

/* ---- going ---- */

static void a_letter_is_resolved_once_its_origin_has_it(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    rig_clear_log(rig);
    const struct sink_item *item = sink.items[0];
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_REPLAYING);
    assert_bytes(item->body, "{\"pin\":1}");
    assert_bytes(item->key, "k1");
    assert_true(bytes_eq(item->origin, letter->source));
    assert_true(bytes_eq(header(item, COMEBACK_LETTER), letter->letter_id));
    assert_bytes(header(item, COMEBACK_REPLAYS), "1");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_assert_log(rig, "submit:update(a)");
    letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_RESOLVED);
    assert_int_equal(letter->resolution, RESOLUTION_REPLAYED);
    assert_true(letter->to_origin);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_true(rig_saw_event(rig, "\"replay\":\"r1\""));
    rig_free(rig);
}

static void an_origin_that_is_down_is_asked_again(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    rig_clear_log(rig);
    rig_sink_take(rig, &sink, 0, STATUS_UNREACHABLE);
    assert_int_equal(rig_state(rig, "a"), STATE_REPLAYING);
    rig_pass(rig, 99);
    assert_int_equal(sink.count, 1);
    rig_pass(rig, 1);
    assert_int_equal(sink.count, 2);
    rig_sink_take(rig, &sink, 1, STATUS_BUSY);
    rig_pass(rig, 199);
    assert_int_equal(sink.count, 2);
    rig_pass(rig, 1);
    assert_int_equal(sink.count, 3);
    rig_sink_take(rig, &sink, 2, STATUS_OK);
    rig_assert_log(rig, "submit:update(a)");
    assert_int_equal(rig_state(rig, "a"), STATE_RESOLVED);
    rig_free(rig);
}

static void waiting_for_its_origin_it_holds_up_nobody(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    rig->concurrency = 1;
    rig_restart(rig);
    die_and_go(rig, &sink, "a");
    fake_server_push(rig->server, "b", NULL, BYTES("{}"));
    rig_rest(rig);
    rig_fail(rig, "b", 503);
    rig_sink_take(rig, &sink, 0, STATUS_UNREACHABLE);
    rig_pass(rig, 1000);
    assert_non_null(rig_call(rig, "b"));
    rig_free(rig);
}

static void no_more_are_on_their_way_than_the_queue_runs_at_once(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    rig->concurrency = 1;
    rig_restart(rig);
    die(rig, "a");
    die(rig, "b");
    send(rig, "a", "q");
    send(rig, "b", "q");
    assert_int_equal(sink.count, 1);
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_pass(rig, 200);
    assert_int_equal(sink.count, 2);
    rig_sink_take(rig, &sink, 1, STATUS_OK);
    assert_int_equal(rig_state(rig, "b"), STATE_RESOLVED);
    rig_free(rig);
}

static void the_budget_of_retries_is_not_asked(void **state) {
    (void)state;
    struct rig_sink sink;
    char id[8];
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    for (size_t i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "m%zu", i);
        die(rig, id);
    }
    for (size_t i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "m%zu", i);
        send(rig, id, "q");
        assert_int_equal(sink.count, i + 1);
        rig_sink_take(rig, &sink, i, STATUS_OK);
    }
    rig_free(rig);
}

static void what_an_origin_never_takes_is_dead_as_before(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    rig_sink_take(rig, &sink, 0, STATUS_NOT_FOUND);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_false(letter->to_origin);
    assert_int_equal(letter->replays, 0);
    assert_int_equal(letter->attempts, 1);
    assert_bytes(letter->reason, "bad_request");
    assert_bytes(letter->why, "it could not be sent to its origin: the sink was told to fail");
    rig_free(rig);
}

static void long_words_of_an_origin_are_cut_between_two_characters(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    struct err err = {STATUS_NOT_FOUND, ""};
    die_and_go(rig, &sink, "a");
    for (size_t i = 0; i + 3 < sizeof err.text; i += 2)
        memcpy(err.text + i, "é", sizeof "é");
    sink.items[0]->done(sink.items[0], err.status, &err);
    rig_rest(rig);
    struct bytes why = rig_look(rig, "a")->why;
    assert_true(bytes_is_utf8(why));
    assert_in_range(why.len, 200, 255);
    rig_free(rig);
}

static void without_a_way_there_it_is_dead_as_before(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    rig->origin = NULL;
    die(rig, "a");
    send(rig, "a", "q");
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_true(bytes_starts(rig_look(rig, "a")->why, BYTES("it could not be sent to its origin")));
    rig_free(rig);
}

static void a_death_before_it_is_recorded_sends_it_twice_alike(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    char id[64];
    snprintf(id, sizeof id, "%.*s", BYTES_ARG(sink.items[0]->id));
    rig_restart(rig);
    rig_look(rig, "a");
    rig->store->vtable->give_back(rig->store, rig->looked_at, rig->now.mono); /* nobody has it */
    rig->looked_at = NULL;
    rig_rest(rig);
    assert_int_equal(sink.count, 2);
    assert_bytes(sink.items[1]->id, id);
    assert_bytes(header(sink.items[1], COMEBACK_REPLAYS), "1");
    rig_sink_take(rig, &sink, 1, STATUS_OK);
    assert_int_equal(rig_state(rig, "a"), STATE_RESOLVED);
    rig_free(rig);
}

static void a_stop_waits_for_the_origins_answer(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    engine_hold(rig->engine, DRAIN_MS);
    rig_rest(rig);
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    assert_int_equal(rig_state(rig, "a"), STATE_RESOLVED);
    rig_free(rig);
}

/* ---- coming back ---- */

/* What is on its way to its origin is there again, as `id`. */
static void come_back(struct rig *rig, struct rig_sink *sink, const char *id) {
    size_t last = sink->count - 1;
    fake_server_publish(rig->server, id, sink->items[last]);
}

static void what_comes_back_and_dies_is_the_same_letter(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){.deferred = true});
    fake_server_push(rig->server, "a", "k1", BYTES("{\"pin\":1}"));
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    rig_store(rig);
    char letter_id[64];
    struct bytes looked = rig_look(rig, "a")->letter_id;
    snprintf(letter_id, sizeof letter_id, "%.*s", BYTES_ARG(looked));
    send(rig, "a", "q");
    rig_store(rig);
    come_back(rig, &sink, "a2");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_store(rig); /* resolved */
    rig_clear_log(rig);
    rig_pass(rig, 200);
    rig_assert_log(rig, "submit:update(a)"); /* durable first … */
    assert_int_equal(fake_server_count(rig->server), 1);
    rig_store(rig);
    rig_assert_log(rig, "settle(a) start(a)"); /* … settled at its source second */
    assert_int_equal(fake_server_count(rig->server), 0);
    assert_int_equal(rig_call(rig, "a")->call->replay, 1);
    assert_int_equal(rig_call(rig, "a")->attempt, 1);
    rig_fail(rig, "a", 400);
    rig_store(rig);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_bytes(letter->letter_id, letter_id);
    assert_int_equal(letter->replays, 1);
    assert_int_equal(letter->history_count, 2);
    assert_int_equal(letter->header_count, 0);
    assert_null(rig_look(rig, "a2"));
    rig_free(rig);
}

static void what_comes_back_and_succeeds_stays_resolved(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    come_back(rig, &sink, "a2");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_pass(rig, 200);
    rig_succeed(rig, "a");
    assert_int_equal(rig_state(rig, "a"), STATE_RESOLVED);
    assert_int_equal(rig_look(rig, "a")->resolution, RESOLUTION_REPLAYED);
    assert_int_equal(fake_server_count(rig->server), 0);
    rig_free(rig);
}

static void before_its_sending_is_recorded_it_waits_at_its_source(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    come_back(rig, &sink, "a2");
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(fake_server_count(rig->server), 1);
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_pass(rig, 200);
    assert_non_null(rig_call(rig, "a"));
    rig_free(rig);
}

/* Its producer named it, so that it has the id that the letter is held under. */
static void given_again_under_its_own_id_it_is_not_taken_for_a_copy(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    come_back(rig, &sink, "a");
    rig_rest(rig); /* too early: its source will say that it was given before */
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_pass(rig, 200);
    assert_non_null(rig_call(rig, "a"));
    rig_succeed(rig, "a");
    assert_int_equal(fake_server_count(rig->server), 0);
    rig_free(rig);
}

static void of_two_copies_one_is_the_letter_and_one_is_settled(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){.deferred = true});
    fake_server_push(rig->server, "a", NULL, BYTES("{}"));
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    rig_store(rig);
    send(rig, "a", "q");
    rig_store(rig);
    fake_server_set_trouble(rig->server, "not yet");
    come_back(rig, &sink, "a2");
    come_back(rig, &sink, "a3");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_store(rig);
    fake_server_set_trouble(rig->server, NULL); /* both at once */
    rig_rest(rig);
    for (int i = 0; i < 3; i++) {
        rig_store(rig);
        rig_pass(rig, 200);
    }
    assert_int_equal(rig_open_calls(rig), 1);
    rig_fail(rig, "a", 400);
    rig_store(rig);
    rig_pass(rig, 200);
    assert_int_equal(fake_server_count(rig->server), 0);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig_view(rig).results[RESULT_DUPLICATE], 1);
    assert_int_equal(rig_look(rig, "a")->history_count, 2);
    rig_free(rig);
}

static void another_body_under_its_name_is_a_message_of_its_own(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    struct sink_item copy = *sink.items[0];
    copy.body = BYTES("{\"pin\":2}");
    fake_server_publish(rig->server, "b", &copy);
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_fail(rig, "b", 400);
    assert_int_equal(rig_state(rig, "a"), STATE_RESOLVED);
    assert_int_equal(rig_state(rig, "b"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

static void a_letter_that_is_held_no_more_comes_as_a_new_message(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    die_and_go(rig, &sink, "a");
    come_back(rig, &sink, "a2");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_look(rig, "a");
    struct store_op forget = {.kind = STORE_FORGET, .queue = 1, .seq = rig->looked_at->seq};
    forget.queue = rig->store->vtable->queue_number(rig->store, BYTES("q"));
    rig_commit(rig, &forget);
    rig_pass(rig, 200);
    rig_fail(rig, "a2", 400);
    assert_int_equal(rig_state(rig, "a2"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

/* Where messages are put into the store first, a letter is there already. */
static void in_order_it_is_the_same_letter_too(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_new((struct rig_options){.server = true});
    rig_sink_init(&sink);
    rig->origin = &sink.sink;
    rig->rules.order = ORDER_KEY;
    rig->rules.blocked_limit = 10;
    rig_open(rig);
    die_and_go(rig, &sink, "a");
    fake_server_push(rig->server, "b", "k1", BYTES("{}"));
    rig_rest(rig);
    assert_null(rig_call(rig, "b")); /* behind the dead head */
    come_back(rig, &sink, "a2");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    assert_non_null(rig_call(rig, "b"));
    rig_succeed(rig, "b");
    rig_pass(rig, 200);
    rig_fail(rig, "a", 400);
    assert_int_equal(rig_look(rig, "a")->replays, 1);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_null(rig_look(rig, "a2"));
    rig_free(rig);
}

/* ---- queues that are not ours ---- */

static void put_letter(struct rig *rig, const char *queue, const char *id, const char *source) {
    struct envelope letter = {.letter_id = BYTES("01909af4-0000-7000-8000-000000000001"),
                              .id = bytes_of(id),
                              .queue = bytes_of(queue),
                              .dlq = BYTES("legacy.dlq"),
                              .state = STATE_PENDING_REVIEW,
                              .cause = CAUSE_ADOPTED,
                              .source = bytes_of(source),
                              .created_at = rig->now.wall,
                              .dead_at = rig->now.wall,
                              .resolved_at = WALL_NEVER,
                              .next_attempt_at = WALL_NEVER,
                              .size = 2};
    struct store_op op = {.kind = STORE_PUT,
                          .queue = rig->store->vtable->queue_number(rig->store, bytes_of(queue)),
                          .envelope = &letter,
                          .body = BYTES("{}")};
    rig_commit(rig, &op);
}

static void a_letter_of_a_queue_that_is_nowhere_goes_to_its_origin(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    put_letter(rig, "elsewhere", "x", "{\"kind\":\"fake\"}");
    send(rig, "x", "elsewhere");
    assert_int_equal(sink.count, 0);
    engine_serve(rig->engine, BYTES("elsewhere"));
    engine_serve(rig->engine, BYTES("elsewhere"));
    rig_rest(rig);
    assert_int_equal(sink.count, 1);
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    assert_int_equal(rig_state(rig, "x"), STATE_RESOLVED);
    assert_int_equal(engine_queue_count(rig->engine), 1); /* it is not shown */
    rig_free(rig);
}

/* It came by a pointer; where that lay is nobody's place to take it from. */
static void what_was_pointed_at_goes_to_where_it_was_itself(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    put_letter(rig, "q", "x",
               "{\"kind\":\"kafka\",\"topic\":\"dead\",\"origin\":"
               "{\"kind\":\"kafka\",\"topic\":\"orders\",\"tombstone\":true}}");
    send(rig, "x", "q");
    assert_int_equal(sink.count, 1);
    assert_bytes(sink.items[0]->origin,
                 "{\"kind\":\"kafka\",\"topic\":\"orders\",\"tombstone\":true}");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    assert_int_equal(rig_state(rig, "x"), STATE_RESOLVED);
    rig_free(rig);
}

static void once_served_its_letters_go_by_themselves(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    engine_serve(rig->engine, BYTES("elsewhere"));
    engine_serve(rig->engine, BYTES("q")); /* ours: nothing changes */
    rig_rest(rig);
    put_letter(rig, "elsewhere", "x", "{\"kind\":\"fake\"}");
    send(rig, "x", "elsewhere");
    assert_int_equal(sink.count, 1);
    rig_sink_take(rig, &sink, 0, STATUS_UNREACHABLE);
    rig_pass(rig, 100);
    assert_int_equal(sink.count, 2);
    rig_sink_take(rig, &sink, 1, STATUS_OK);
    assert_int_equal(rig_state(rig, "x"), STATE_RESOLVED);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_is_resolved_once_its_origin_has_it),
        cmocka_unit_test(an_origin_that_is_down_is_asked_again),
        cmocka_unit_test(waiting_for_its_origin_it_holds_up_nobody),
        cmocka_unit_test(no_more_are_on_their_way_than_the_queue_runs_at_once),
        cmocka_unit_test(the_budget_of_retries_is_not_asked),
        cmocka_unit_test(what_an_origin_never_takes_is_dead_as_before),
        cmocka_unit_test(long_words_of_an_origin_are_cut_between_two_characters),
        cmocka_unit_test(without_a_way_there_it_is_dead_as_before),
        cmocka_unit_test(a_death_before_it_is_recorded_sends_it_twice_alike),
        cmocka_unit_test(a_stop_waits_for_the_origins_answer),
        cmocka_unit_test(what_comes_back_and_dies_is_the_same_letter),
        cmocka_unit_test(what_comes_back_and_succeeds_stays_resolved),
        cmocka_unit_test(before_its_sending_is_recorded_it_waits_at_its_source),
        cmocka_unit_test(given_again_under_its_own_id_it_is_not_taken_for_a_copy),
        cmocka_unit_test(of_two_copies_one_is_the_letter_and_one_is_settled),
        cmocka_unit_test(another_body_under_its_name_is_a_message_of_its_own),
        cmocka_unit_test(a_letter_that_is_held_no_more_comes_as_a_new_message),
        cmocka_unit_test(in_order_it_is_the_same_letter_too),
        cmocka_unit_test(a_letter_of_a_queue_that_is_nowhere_goes_to_its_origin),
        cmocka_unit_test(what_was_pointed_at_goes_to_where_it_was_itself),
        cmocka_unit_test(once_served_its_letters_go_by_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
