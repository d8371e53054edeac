/* A queue whose messages come from a server: what is recognised, what goes back, what is put first.
 */
#include "rig.h"

#include <stdio.h>

#include "fake_broker.h"
#include "core/outage/cap.h"
#include "lease_rig.h"

static struct rig *rig_of(struct rig_options options) {
    options.server = true;
    return rig_new(options);
}

static void push(struct rig *rig, const char *id) {
    fake_server_push(rig->server, id, NULL, BYTES("{}"));
}

static size_t at_source(const struct rig *rig) {
    return fake_server_count(rig->server);
}

static bool wanted(const struct rig *rig) {
    return fake_broker_wanted(rig->brokers[0].inner);
}

/* ---- the ordinary way ---- */

static void a_success_never_touches_the_store(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    assert_int_equal(at_source(rig), 1);
    rig_succeed(rig, "a");
    rig_assert_log(rig, "start(a) settle(a)");
    assert_int_equal(at_source(rig), 0);
    rig_assert_gone(rig, "a");
    rig_free(rig);
}

static void a_success_waits_for_no_commit(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){.deferred = true});
    rig_open(rig);
    push(rig, "a");
    push(rig, "b");
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    rig_succeed(rig, "b");
    rig_assert_log(rig, "start(a) start(b) submit:put(a) settle(b)");
    assert_int_equal(at_source(rig), 1);
    rig_store(rig);
    rig_assert_log(rig, "settle(a)");
    assert_int_equal(at_source(rig), 0);
    rig_free(rig);
}

static void a_failure_is_durable_before_it_is_settled(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){.deferred = true});
    rig_open(rig);
    push(rig, "a");
    push(rig, "b");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    rig_fail(rig, "b", 400);
    rig_assert_log(rig, "start(a) start(b) submit:put(a) submit:put(b)");
    assert_int_equal(at_source(rig), 2);
    rig_store(rig);
    rig_assert_log(rig, "settle(a) settle(b)");
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_RETRY);
    const struct envelope *letter = rig_look(rig, "b");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_bytes(letter->queue, "q");
    assert_int_equal(letter->size, 2);
    assert_string_equal(letter->content_hash,
                        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    rig_free(rig);
}

static void a_retry_that_succeeds_settles_nothing_again(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    rig_clear_log(rig);
    snprintf(rig->ids[1], RIG_ID_SIZE, "a"); /* the first that the store got */
    rig_pass(rig, 1000);
    rig_succeed(rig, "a");
    rig_assert_log(rig, "start(a) submit:forget(a)");
    rig_free(rig);
}

/* ---- given again ---- */

/* Its source does not hear that it was settled, and we die. */
static void fail_unheard(struct rig *rig, const char *id) {
    fake_server_set_trouble(rig->server, "gone");
    rig_fail(rig, id, 400);
    rig_clear_log(rig);
    rig_restart(rig);
    fake_server_set_trouble(rig->server, NULL);
}

static void what_is_held_is_settled_and_not_doubled(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    fail_unheard(rig, "a");
    assert_int_equal(at_source(rig), 1);
    rig_rest(rig);
    rig_assert_log(rig, "settle(a)");
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(rig_view(rig).results[RESULT_DUPLICATE], 1);
    rig_free(rig);
}

static void what_is_not_held_is_run_again(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    rig_restart(rig);
    rig_rest(rig);
    rig_succeed(rig, "a");
    rig_assert_log(rig, "start(a) start(a) settle(a)");
    assert_int_equal(at_source(rig), 0);
    rig_free(rig);
}

static void given_again_while_it_is_with_us_it_waits(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    fake_server_redeliver(rig->server);
    rig_rest(rig);
    rig_assert_log(rig, "start(a) back(a)");
    rig_fail(rig, "a", 400);
    rig_clear_log(rig);
    assert_int_equal(at_source(rig), 1);
    rig_pass(rig, 1000);
    rig_assert_log(rig, "settle(a)");
    assert_int_equal(at_source(rig), 0);
    rig_free(rig);
}

static void an_id_that_is_held_with_another_body_is_not_lost(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    fake_server_push(rig->server, "a", NULL, BYTES("{\"other\":1}"));
    rig_rest(rig);
    rig_clear_log(rig);
    rig_fail(rig, "a", 400);
    assert_int_equal(at_source(rig), 0);
    struct letters_dlq dlq;
    struct arena arena;
    arena_init_heap(&arena, 1024);
    assert_int_equal(
        letters_dlq(rig->store->letters, BYTES("q.dlq"), rig->now.wall, &arena, &dlq, NULL),
        STATUS_OK);
    assert_int_equal(dlq.depth, 2);
    arena_free(&arena);
    /* submit:put(a) was refused, and submitted again under another id. */
    struct bytes log = buf_view(&rig->log);
    assert_true(bytes_starts(log, BYTES("submit:put(a) submit:put(")));
    struct bytes id = bytes_cut(log, 25, 25 + 36);
    char text[37];
    snprintf(text, sizeof text, "%.*s", BYTES_ARG(id));
    const struct envelope *letter = rig_look(rig, text);
    assert_non_null(letter);
    assert_int_equal(letter->header_count, 1);
    assert_bytes(letter->headers[0].name, "Impound-Source-Id");
    assert_bytes(letter->headers[0].value, "a");
    rig_free(rig);
}

#define HASH_OF_EMPTY                                                                              \
    "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" /* "{}"                     \
                                                                        */

static void put_letter(struct rig *rig, struct envelope letter, const char *body) {
    letter.queue = BYTES("q");
    letter.dlq = BYTES("q.dlq");
    letter.state = STATE_PENDING_REVIEW;
    letter.letter_id = BYTES("01900000-0000-7000-8000-000000000001");
    letter.size = strlen(body);
    letter.retry_after_ms = -1;
    struct store_op op = {.kind = STORE_PUT,
                          .queue = rig->store->vtable->queue_number(rig->store, BYTES("q")),
                          .envelope = &letter,
                          .body = bytes_of(body)};
    rig_commit(rig, &op);
}

static void a_letter_that_is_only_looked_at_stands_for_no_message(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    put_letter(
        rig, (struct envelope){.id = BYTES("a"), .read_only = true, .content_hash = HASH_OF_EMPTY},
        "{}");
    push(rig, "a");
    rig_rest(rig);
    rig_restart(rig);
    rig_rest(rig); /* it is given again, and run again */
    assert_int_equal(at_source(rig), 1);
    rig_fail(rig, "a", 400);
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 2);
    assert_true(rig_look(rig, "a")->read_only);
    assert_int_equal(rig_view(rig).results[RESULT_DUPLICATE], 0);
    rig_free(rig);
}

static enum status get_nothing(struct letters *letters, struct bytes queue, struct bytes id,
                               struct message **out, struct err *err) {
    (void)letters, (void)queue, (void)id, (void)out;
    return err_set(err, STATUS_IO, "the disk was told to fail");
}

static void what_cannot_be_read_stands_for_no_message(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){.deferred = true});
    rig_open(rig);
    put_letter(
        rig, (struct envelope){.id = BYTES("a"), .read_only = true, .content_hash = HASH_OF_EMPTY},
        "{}");
    push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    rig->letters_vtable.get = get_nothing;
    rig_store(rig);
    rig_store(rig);
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 2);
    rig_free(rig);
}

static void an_edited_letter_stands_for_the_message_that_it_was_and_no_other(void **state) {
    (void)state;
    static const struct {
        const char *body;
        bool same;
    } cases[] = {{"{\"first\":1}", true}, {"{\"edited\":1}", true}, {"{\"other\":1}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig *rig = rig_of((struct rig_options){0});
        struct store_op keep = {.kind = STORE_KEEP,
                                .keep = {.space = SPACE_ORIGINAL,
                                         .name = BYTES("01900000-0000-7000-8000-000000000001"),
                                         .value = BYTES("{\"first\":1}"),
                                         .expires = WALL_NEVER}};
        rig_open(rig);
        put_letter(rig, (struct envelope){.id = BYTES("a"), .edited = true}, "{\"edited\":1}");
        rig_commit(rig, &keep);
        fake_server_push(rig->server, "a", NULL, bytes_of(cases[i].body));
        rig_rest(rig);
        rig_restart(rig); /* it is given again */
        rig_clear_log(rig);
        rig_rest(rig);
        rig_assert_log(rig, cases[i].same ? "settle(a)" : "start(a)");
        rig_free(rig);
    }
}

static size_t dead(struct rig *rig) {
    return (size_t)rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq"));
}

/* A producer gave two messages one id; neither was given before. */
static void two_messages_with_one_id_are_two_letters(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    rig_fail(rig, "a", 400);
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(dead(rig), 2);
    assert_int_equal(rig_view(rig).results[RESULT_DUPLICATE], 0);
    assert_int_equal(rig_view(rig).same_ids, 1);
    rig_free(rig);
}

/* Messages without an id of their own that differ in nothing; all are handed over. */
static struct rig *with_equals(int count) {
    struct rig *rig = rig_of((struct rig_options){0});
    fake_server_set_without_ids(rig->server);
    rig_open(rig);
    for (int i = 0; i < count; i++)
        push(rig, "m");
    rig_rest(rig);
    return rig;
}

static void of_messages_without_an_id_every_one_that_fails_is_a_letter(void **state) {
    (void)state;
    struct rig *rig = with_equals(3);
    rig_fail(rig, "m#1", 400);
    rig_fail(rig, "m#2", 400);
    rig_fail(rig, "m#3", 400);
    rig_rest(rig);
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(dead(rig), 3);
    assert_int_equal(rig_view(rig).results[RESULT_DUPLICATE], 0);
    assert_int_equal(rig_view(rig).same_ids, 0);
    rig_free(rig);
}

/* One has its letter and was not acknowledged; its equals were never handed over. Nothing tells
 * which of those that come again it is: all are run, and none is acknowledged unseen. */
static void without_an_id_none_is_settled_after_a_kill_for_its_likeness(void **state) {
    (void)state;
    struct rig *rig = with_equals(3);
    fail_unheard(rig, "m#1");
    assert_int_equal(at_source(rig), 3);
    rig_rest(rig);
    rig_assert_log(rig, "start(m#4) start(m#5) start(m#6)");
    rig_fail(rig, "m#4", 400);
    rig_succeed(rig, "m#5");
    rig_fail(rig, "m#6", 400);
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(dead(rig), 3);
    assert_int_equal(rig_view(rig).results[RESULT_DUPLICATE], 0);
    rig_free(rig);
}

/* An outage lost 41 of 60 equal messages once: those that went back came again, were taken for one
 * that was held, and were acknowledged. */
static void without_an_id_what_goes_back_is_not_taken_for_what_is_held(void **state) {
    (void)state;
    struct rig *rig = with_equals(2);
    rig_fail(rig, "m#1", 400);
    rig_answer(rig, "m#2", (struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1});
    rig_rest(rig);
    rig_succeed(rig, "m#3");
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(dead(rig), 1);
    assert_int_equal(rig_view(rig).results[RESULT_DUPLICATE], 0);
    rig_free(rig);
}

static void what_was_delivered_too_often_is_dead_unattempted(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig->policy.routes[0] = (struct dlq_route){BYTES("crash"), BYTES("q.bad")};
    rig->policy.route_count = 1;
    rig_open(rig);
    push(rig, "a");
    fake_server_set_deliveries(rig->server, 10);
    rig_rest(rig);
    rig_restart(rig);
    rig_rest(rig);
    rig_assert_log(rig, "start(a) submit:put(a) settle(a)");
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->cause, CAUSE_CRASH);
    assert_bytes(letter->category, "crash");
    assert_bytes(letter->reason, "deliveries");
    assert_bytes(letter->dlq, "q.bad");
    assert_bytes(letter->why, "its source delivered it 11 times");
    assert_int_equal(letter->attempts, 0);
    assert_true(rig_saw_event(rig, "\"reason\":\"deliveries\""));
    rig_free(rig);
}

/* Stops in good order, with the next delivery of what is at the server being the 11th. */
static void stop_and_deliver_again(struct rig *rig) {
    engine_hold(rig->engine, 0);
    rig_rest(rig);
    rig_answer(rig, "a", (struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1});
    engine_stop(rig->engine);
    rig_rest(rig);
    fake_server_set_deliveries(rig->server, 11);
    rig_restart(rig);
    rig_rest(rig);
}

static void a_delivery_that_a_graceful_stop_caused_does_not_count(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    stop_and_deliver_again(rig);
    assert_non_null(rig_call(rig, "a"));
    rig_succeed(rig, "a");
    rig_assert_gone(rig, "a");
    rig_free(rig);
}

static void a_stop_before_the_message_was_created_excuses_nothing(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    fake_server_set_created_at(rig->server, (struct wall){rig->now.wall.ms + 1});
    stop_and_deliver_again(rig);
    assert_null(rig_call(rig, "a"));
    assert_bytes(rig_look(rig, "a")->reason, "deliveries");
    rig_free(rig);
}

static void what_pointed_at_a_message_that_is_gone_is_dead_unattempted(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    fake_server_push_from(rig->server, "empty", "{\"kind\":\"fake\"}");
    fake_server_push_from(rig->server, "a",
                          "{\"kind\":\"fake\",\"origin\":{\"gone\":true,\"why\":\"no topic\"}}");
    rig_rest(rig);
    rig_assert_log(rig, "start(empty) submit:put(a) settle(a)");
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->cause, CAUSE_TERMINAL);
    assert_bytes(letter->category, "unknown");
    assert_bytes(letter->reason, "gone");
    assert_bytes(letter->why, "no topic");
    assert_int_equal(letter->attempts, 0);
    rig_succeed(rig, "empty");
    rig_free(rig);
}

/* ---- back to the source ---- */

static void a_message_that_halts_its_queue_is_stored_and_settled(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 401);
    rig_assert_log(rig, "start(a) submit:put(a) settle(a)");
    assert_true(wanted(rig));
    rig_pass(rig, OPINION_RECEIVE_MS);
    assert_false(wanted(rig));
    rig_pass(rig, OPINION_WAIT_MS - OPINION_RECEIVE_MS);
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    assert_int_equal(at_source(rig), 0);
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->state, STATE_QUEUED);
    assert_true(envelope->refused);
    assert_int_equal(envelope->attempts, 0);
    assert_int_equal(envelope->history_count, 1);
    assert_false(envelope->history[0].counted);
    snprintf(rig->ids[1], RIG_ID_SIZE, "a"); /* the first that the store got */
    rig_ask(rig, ENGINE_RESUME, NULL);
    rig_rest(rig);
    assert_true(wanted(rig));
    assert_null(rig_call(rig, "a")); /* its source may have another */
    rig_pass(rig, OPINION_RECEIVE_MS);
    rig_succeed(rig, "a");
    rig_assert_gone(rig, "a");
    rig_free(rig);
}

static void a_failure_while_the_breaker_is_open_is_stored_and_settled(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig->concurrency = 8;
    rig_open(rig);
    for (char id[] = "a"; id[0] <= 'h'; id[0]++)
        push(rig, id);
    rig_rest(rig);
    push(rig, "i"); /* is never handed over */
    for (char id[] = "a"; id[0] <= 'h'; id[0]++)
        rig_answer(rig, id, rig_outcome(KIND_STATUS, 503));
    rig_rest(rig);
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    assert_false(wanted(rig));
    assert_int_equal(at_source(rig), 1);
    assert_int_equal(rig_look(rig, "a")->attempts, 1);
    const struct envelope *uncounted = rig_look(rig, "h");
    assert_int_equal(uncounted->state, STATE_PENDING_RETRY);
    assert_int_equal(uncounted->attempts, 0);
    assert_int_equal(uncounted->history_count, 1);
    assert_false(uncounted->history[0].counted);
    rig_free(rig);
}

static void a_failed_probe_is_stored_and_settled(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig->concurrency = 8;
    rig_open(rig);
    for (char id[] = "a"; id[0] <= 'e'; id[0]++)
        push(rig, id);
    rig_rest(rig);
    rig_fail_all(rig, 503);
    push(rig, "probe");
    rig_pass(rig, 1000);
    assert_non_null(rig_call(rig, "probe"));
    rig_clear_log(rig);
    rig_fail(rig, "probe", 503);
    rig_assert_log(rig, "submit:put(probe) settle(probe)");
    assert_false(wanted(rig));
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(rig_state(rig, "probe"), STATE_PENDING_RETRY);
    assert_true(rig_look(rig, "probe")->history[0].probe);
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 0);
    rig_free(rig);
}

/* Otherwise what is poison would be tried for ever while what is healthy waits at its source. */
static void a_probe_is_one_that_was_never_attempted(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig->concurrency = 8;
    rig_open(rig);
    for (char id[] = "a"; id[0] <= 'e'; id[0]++)
        push(rig, id);
    rig_rest(rig);
    rig_fail_all(rig, 503);
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    push(rig, "fresh");
    rig_pass(rig, 499);
    assert_false(wanted(rig));
    rig_pass(rig, 1);
    assert_true(wanted(rig));
    assert_int_equal(rig_open_calls(rig), 0);
    rig_pass(rig, 500);
    assert_int_equal(rig_open_calls(rig), 1);
    assert_non_null(rig_call(rig, "fresh"));
    rig_free(rig);
}

/* At first it is known by its id alone, later the store has a number for it too. */
static void a_message_that_fails_alone_is_no_outage(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig->policy.retry.attempts = 9;
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    snprintf(rig->ids[1], RIG_ID_SIZE, "a"); /* the first that the store got */
    for (size_t i = 0; i < 8; i++, rig_pass(rig, 3600 * 1000)) {
        rig_fail(rig, "a", 503);
        assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    }
    rig_free(rig);
}

static void stopping_gives_back_what_does_not_finish(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    rig_rest(rig);
    engine_hold(rig->engine, 100);
    rig_turn(rig);
    assert_false(wanted(rig));
    rig_pass(rig, 100);
    rig_answer(rig, "a", (struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1});
    rig_rest(rig);
    rig_assert_log(rig, "start(a) submit:facts cancel(a) back(a)");
    assert_int_equal(at_source(rig), 1);
    rig_free(rig);
}

static void a_crash_is_remembered(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig->concurrency = 8;
    rig_open(rig);
    for (char id[] = "a"; id[0] <= 'h'; id[0]++)
        push(rig, id);
    rig_rest(rig);
    for (char id[] = "a"; id[0] <= 'e'; id[0]++)
        rig_answer(rig, id, rig_outcome(KIND_STATUS, 503));
    rig_rest(rig);
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    rig_answer(rig, "h", rig_outcome(KIND_SIGNAL, 0));
    rig_rest(rig);
    assert_int_equal(rig_look(rig, "h")->crashes, 1);
    rig_free(rig);
}

/* ---- nothing is wanted ---- */

static void nothing_is_wanted_while_paused_and_after_a_restart(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    rig_rest(rig);
    assert_true(wanted(rig));
    rig_ask(rig, ENGINE_PAUSE, "lunch");
    rig_rest(rig);
    assert_false(wanted(rig));
    push(rig, "a");
    rig_restart(rig);
    assert_false(wanted(rig));
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_free(rig);
}

static void nothing_is_wanted_while_too_many_wait_for_room_in_a_full_dlq(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig->dlqs[0].cap = 1;
    rig_open(rig);
    push(rig, "first");
    rig_rest(rig);
    rig_fail(rig, "first", 400);
    assert_true(rig_view(rig).dlq_full);
    assert_true(wanted(rig));
    for (size_t i = 0; i < CAP_AWAITING_MAX; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "w%zu", i);
        push(rig, id);
    }
    rig_rest(rig);
    while (rig_open_calls(rig) > 0)
        rig_fail_all(rig, 400);
    assert_int_equal(rig_view(rig).counts.awaiting_room, CAP_AWAITING_MAX);
    assert_false(wanted(rig));
    rig_free(rig);
}

static void trouble_is_shown(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig_open(rig);
    push(rig, "a");
    fake_server_set_trouble(rig->server, "there is nobody at 10.0.0.1:6379");
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    struct engine_queue_view view = rig_view(rig);
    assert_false(view.source_connected);
    assert_string_equal(view.source_trouble, "there is nobody at 10.0.0.1:6379");
    assert_int_equal(view.lag, 1);
    fake_server_set_trouble(rig->server, NULL);
    rig_rest(rig);
    view = rig_view(rig);
    assert_true(view.source_connected);
    assert_string_equal(view.source_trouble, "");
    assert_int_equal(rig_open_calls(rig), 1);
    rig_free(rig);
}

/* ---- into the store first ---- */

static void with_order_it_is_put_into_the_store_first(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){.deferred = true});
    rig->rules.order = ORDER_KEY;
    rig->rules.blocked_limit = 1000;
    rig_open(rig);
    fake_server_push(rig->server, "a", "k", BYTES("1"));
    fake_server_push(rig->server, "b", "k", BYTES("2"));
    fake_server_push(rig->server, "c", "l", BYTES("3"));
    rig_rest(rig);
    rig_assert_log(rig, "submit:put(a) submit:put(b) submit:put(c)");
    assert_int_equal(at_source(rig), 3);
    rig_store(rig);
    rig_assert_log(rig, "settle(a) settle(b) settle(c) start(a) start(c)");
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(rig_state(rig, "b"), STATE_QUEUED);
    rig_free(rig);
}

static void a_worker_fetches_what_a_server_has(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){.server = true});
    struct fetched fetched;
    push(rig, "a");
    push(rig, "b");
    rig_rest(rig);
    assert_int_equal(at_source(rig), 2); /* nobody asked */
    lease_rig_ask(rig, &fetched, 1, 1000);
    rig_rest(rig);
    assert_int_equal(fetched.lease.count, 1);
    assert_int_equal(at_source(rig), 1);
    assert_int_equal(lease_rig_ack(rig, fetched.room[0].lease), STATUS_OK);
    rig_free(rig);
}

static void with_idempotency_a_second_one_waits_for_the_first(void **state) {
    (void)state;
    struct rig *rig = rig_of((struct rig_options){0});
    rig->rules.idempotency =
        (struct engine_idempotency){.path = BYTES(".order"), .dedupe_ms = 1000000};
    rig_open(rig);
    fake_server_push(rig->server, "a", NULL, BYTES("{\"order\":1}"));
    fake_server_push(rig->server, "b", NULL, BYTES("{\"order\":1}"));
    rig_rest(rig);
    assert_int_equal(at_source(rig), 0);
    assert_int_equal(rig_open_calls(rig), 1);
    rig_succeed_all(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig_view(rig).results[RESULT_DUPLICATE], 1);
    rig_assert_gone(rig, "a");
    rig_assert_gone(rig, "b");
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_never_touches_the_store),
        cmocka_unit_test(a_success_waits_for_no_commit),
        cmocka_unit_test(a_failure_is_durable_before_it_is_settled),
        cmocka_unit_test(a_retry_that_succeeds_settles_nothing_again),
        cmocka_unit_test(what_is_held_is_settled_and_not_doubled),
        cmocka_unit_test(what_is_not_held_is_run_again),
        cmocka_unit_test(given_again_while_it_is_with_us_it_waits),
        cmocka_unit_test(an_id_that_is_held_with_another_body_is_not_lost),
        cmocka_unit_test(a_letter_that_is_only_looked_at_stands_for_no_message),
        cmocka_unit_test(what_cannot_be_read_stands_for_no_message),
        cmocka_unit_test(an_edited_letter_stands_for_the_message_that_it_was_and_no_other),
        cmocka_unit_test(two_messages_with_one_id_are_two_letters),
        cmocka_unit_test(of_messages_without_an_id_every_one_that_fails_is_a_letter),
        cmocka_unit_test(without_an_id_none_is_settled_after_a_kill_for_its_likeness),
        cmocka_unit_test(without_an_id_what_goes_back_is_not_taken_for_what_is_held),
        cmocka_unit_test(what_was_delivered_too_often_is_dead_unattempted),
        cmocka_unit_test(a_delivery_that_a_graceful_stop_caused_does_not_count),
        cmocka_unit_test(a_stop_before_the_message_was_created_excuses_nothing),
        cmocka_unit_test(what_pointed_at_a_message_that_is_gone_is_dead_unattempted),
        cmocka_unit_test(a_message_that_halts_its_queue_is_stored_and_settled),
        cmocka_unit_test(a_failure_while_the_breaker_is_open_is_stored_and_settled),
        cmocka_unit_test(a_failed_probe_is_stored_and_settled),
        cmocka_unit_test(a_probe_is_one_that_was_never_attempted),
        cmocka_unit_test(a_message_that_fails_alone_is_no_outage),
        cmocka_unit_test(stopping_gives_back_what_does_not_finish),
        cmocka_unit_test(a_crash_is_remembered),
        cmocka_unit_test(nothing_is_wanted_while_paused_and_after_a_restart),
        cmocka_unit_test(nothing_is_wanted_while_too_many_wait_for_room_in_a_full_dlq),
        cmocka_unit_test(trouble_is_shown),
        cmocka_unit_test(with_order_it_is_put_into_the_store_first),
        cmocka_unit_test(a_worker_fetches_what_a_server_has),
        cmocka_unit_test(with_idempotency_a_second_one_waits_for_the_first),
    };
    return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}
