/* A full DLQ with on_full: block: what was judged dead waits for room, and everything else goes on
 * (SEMANTICS 4.4). */
#include "lease_rig.h"

#include <stdio.h>
#include <string.h>

#include "fake_broker.h"
#include "core/outage/cap.h"

static struct rig *rig_capped(uint64_t cap) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig->dlqs[0].cap = cap;
    return rig;
}

static void assert_awaits_room(struct rig *rig, const char *id, const char *why) {
    const struct envelope *envelope = rig_look(rig, id);
    assert_non_null(envelope);
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_true(envelope_awaits_room(envelope));
    assert_bytes(envelope->why, why);
    assert_int_equal(envelope->letter_id.len, 0);
}

/* ---- waiting, and becoming a letter ---- */

static void a_verdict_for_a_full_dlq_is_stored_and_not_handed_over_again(void **state) {
    (void)state;
    struct rig *rig = rig_capped(1);
    rig_open(rig);
    rig_push_and_fail(rig, "a", 400);
    rig_clear_log(rig);
    rig_push_and_fail(rig, "b", 400);
    rig_assert_log(rig, "start(b) submit:update(b) settle(b)");
    assert_awaits_room(rig, "b", "dlq q.dlq is full");
    assert_int_equal(rig->looked_at->envelope.cause, CAUSE_TERMINAL);
    assert_bytes(rig->looked_at->envelope.reason, "bad_request");
    assert_bytes(rig->looked_at->envelope.dlq, "q.dlq");
    assert_int_equal(rig->looked_at->envelope.attempts, 1);
    rig_pass(rig, 24 * 3600 * 1000);
    assert_int_equal(rig->call_count, 2);
    struct engine_queue_view view = rig_view(rig);
    assert_true(view.dlq_full);
    assert_false(view.receives_nothing);
    assert_string_equal(view.full_dlqs, "q.dlq");
    assert_int_equal(view.counts.awaiting_room, 1);
    assert_int_equal(view.counts.pending_retry, 1);
    rig_free(rig);
}

static void it_becomes_the_letter_that_it_was_judged_to_be_once_there_is_room(void **state) {
    (void)state;
    struct rig *rig = rig_capped(1);
    rig_open(rig);
    rig_push_and_fail(rig, "a", 400);
    rig_push_and_fail(rig, "b", 400);
    struct wall died = rig->now.wall;
    rig_pass(rig, 90 * 1000);
    rig_clear_log(rig);
    rig_mark(rig, "a", STATE_RESOLVED);
    rig_pass(rig, QUEUE_FULL_POLL_MS);
    rig_assert_log(rig, "submit:update(b) settle(b)");
    const struct envelope *letter = rig_look(rig, "b");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->cause, CAUSE_TERMINAL);
    assert_bytes(letter->reason, "bad_request");
    assert_int_equal(letter->letter_id.len, 36);
    assert_int_equal(letter->why.len, 0);
    assert_int_equal(letter->dead_at.ms, died.ms);
    assert_int_equal(letter->history_count, 1);
    assert_true(rig_saw_event(rig, "\"message_id\":\"b\""));
    assert_int_equal(rig->call_count, 2);
    assert_int_equal(rig_view(rig).counts.awaiting_room, 0);
    rig_free(rig);
}

/* A cap of 20 has room again at 18. */
static void a_full_dlq_has_room_below_95_percent(void **state) {
    (void)state;
    struct rig *rig = rig_capped(20);
    rig->concurrency = 30;
    rig_open(rig);
    rig_push_many(rig, 20);
    rig_rest(rig);
    rig_fail_all(rig, 400);
    rig_push_and_fail(rig, "late", 400);
    rig_mark(rig, "m1", STATE_RESOLVED);
    rig_pass(rig, QUEUE_FULL_POLL_MS);
    assert_awaits_room(rig, "late", "dlq q.dlq is full");
    assert_true(rig_view(rig).dlq_full);
    rig_mark(rig, "m2", STATE_DISCARDED);
    rig_pass(rig, QUEUE_FULL_POLL_MS);
    assert_int_equal(rig_state(rig, "late"), STATE_PENDING_REVIEW);
    assert_false(rig_view(rig).dlq_full);
    rig_free(rig);
}

static void a_replayed_letter_keeps_its_place_and_never_waits(void **state) {
    (void)state;
    struct rig *rig = rig_capped(1);
    rig_open(rig);
    rig_push_and_fail(rig, "a", 400);
    rig_push_and_fail(rig, "b", 400);
    rig_replay(rig, "a");
    rig_pass(rig, QUEUE_FULL_POLL_MS);
    assert_awaits_room(rig, "b", "dlq q.dlq is full"); /* replaying counts towards the cap */
    rig_fail(rig, "a", 400);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_int_equal(rig_depth(rig, "q.dlq"), 1);
    rig_free(rig);
}

static void a_restart_hands_nothing_over_that_waits_for_room(void **state) {
    (void)state;
    struct rig *rig = rig_capped(1);
    rig_open(rig);
    rig_push_and_fail(rig, "a", 400);
    rig_push_and_fail(rig, "b", 400);
    rig_restart(rig);
    rig_pass(rig, 60 * 1000);
    assert_int_equal(rig->call_count, 2);
    assert_awaits_room(rig, "b", "dlq q.dlq is full");
    rig_restart(rig);
    rig_pass(rig, 60 * 1000);
    assert_int_equal(rig->call_count, 2);
    rig_mark(rig, "a", STATE_RESOLVED);
    rig_pass(rig, QUEUE_FULL_POLL_MS);
    assert_int_equal(rig_state(rig, "b"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

static void a_larger_cap_makes_room_also_for_a_paused_queue(void **state) {
    (void)state;
    struct rig *rig = rig_capped(1);
    rig_open(rig);
    rig_push_and_fail(rig, "a", 400);
    rig_push_and_fail(rig, "b", 400);
    rig_ask(rig, ENGINE_PAUSE, "lunch");
    rig_rest(rig);
    struct engine_dlq larger = rig->dlqs[0];
    larger.cap = 10;
    struct engine_rules rules = {
        .policy = &rig->policy, .concurrency = 1, .dlqs = &larger, .dlq_count = 1};
    struct rig_request *reload = rig_request(rig, ENGINE_RELOAD);
    reload->request.rules = &rules;
    engine_ask(rig->engine, &reload->request);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "b"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

static void letters_on_their_way_count_towards_the_cap(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig->concurrency = 2;
    rig->dlqs[0].cap = 3;
    rig_open(rig);
    rig_push_many(rig, 8);
    rig_rest(rig);
    for (int i = 0; i < 4; i++)
        rig_fail_all(rig, 400);
    for (int i = 0; i < 4; i++) {
        rig_store(rig);
        rig_pass(rig, QUEUE_FULL_POLL_MS);
    }
    assert_int_equal(rig_depth(rig, "q.dlq"), 3);
    assert_int_equal(rig_view(rig).counts.awaiting_room, 5);
    assert_int_equal(rig->call_count, 8);
    rig_free(rig);
}

/* ---- what goes on ---- */

static void healthy_messages_and_other_dlqs_are_not_held_by_a_full_route(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.routes[0] = (struct dlq_route){BYTES("validation"), BYTES("q.bad")};
    rig->policy.route_count = 1;
    rig->dlqs[1].cap = 1;
    rig_open(rig);
    rig_push_and_fail(rig, "bad-1", 400);
    rig_push_and_fail(rig, "bad-2", 400);
    assert_awaits_room(rig, "bad-2", "dlq q.bad is full");
    rig_push(rig, "good");
    rig_rest(rig);
    rig_succeed(rig, "good");
    rig_assert_gone(rig, "good");
    rig_push_and_fail(rig, "gone", 404);
    assert_int_equal(rig_state(rig, "gone"), STATE_PENDING_REVIEW);
    assert_string_equal(rig_view(rig).full_dlqs, "q.bad");
    rig_free(rig);
}

static void with_a_thousand_waiting_the_queue_receives_nothing_and_retries_go_on(void **state) {
    (void)state;
    struct rig *rig = rig_capped(1);
    rig_open(rig);
    rig_push_and_fail(rig, "first", 400);
    rig_push_and_fail(rig, "retry", 429);
    rig_push_many(rig, CAP_AWAITING_MAX);
    rig_rest(rig);
    for (size_t i = 0; i < CAP_AWAITING_MAX; i += 4)
        rig_fail_all(rig, 400);
    assert_int_equal(rig_view(rig).counts.awaiting_room, CAP_AWAITING_MAX);
    assert_true(rig_view(rig).receives_nothing);
    rig_push(rig, "new");
    rig_pass(rig, 1000);
    assert_null(rig_call(rig, "new"));
    rig_succeed(rig, "retry");
    rig_assert_gone(rig, "retry");
    rig_mark(rig, "first", STATE_RESOLVED);
    rig_pass(rig, QUEUE_FULL_POLL_MS);
    assert_non_null(rig_call(rig, "new"));
    rig_free(rig);
}

static void a_report_for_the_full_dlq_is_refused_and_others_are_taken(void **state) {
    (void)state;
    struct rig *rig = rig_capped(1);
    rig_open(rig);
    rig_push_and_fail(rig, "a", 400);
    struct rig_request *dead = rig_report(rig, "r1", "{}", 1, rig_outcome(KIND_STATUS, 400));
    struct rig_request *again = rig_report(rig, "r2", "{}", 1, rig_outcome(KIND_STATUS, 429));
    rig_rest(rig);
    assert_int_equal(dead->status, STATUS_BUSY);
    assert_non_null(strstr(dead->request.err.text, "dlq q.dlq is full"));
    rig_assert_gone(rig, "r1");
    assert_int_equal(again->status, STATUS_OK);
    assert_int_equal(rig_state(rig, "r2"), STATE_PENDING_RETRY);
    rig_free(rig);
}

/* ---- order, leases, brokers ---- */

static void an_ordered_head_that_waits_for_room_closes_its_key(void **state) {
    (void)state;
    struct rig *rig = rig_capped(1);
    rig->rules.order = ORDER_KEY;
    rig->rules.blocked_limit = 10;
    rig_open(rig);
    rig_push_and_fail(rig, "first", 400);
    rig_push_message(rig, "a1", "a", NULL);
    rig_push_message(rig, "a2", "a", NULL);
    rig_rest(rig);
    rig_fail(rig, "a1", 400);
    rig_pass(rig, 60 * 1000);
    assert_null(rig_call(rig, "a2"));
    assert_bytes(rig_look(rig, "a2")->blocked_by, "a1");
    rig_restart(rig);
    rig_pass(rig, 60 * 1000);
    assert_null(rig_call(rig, "a2"));
    rig_mark(rig, "first", STATE_RESOLVED);
    rig_pass(rig, QUEUE_FULL_POLL_MS);
    char letter[64];
    snprintf(letter, sizeof letter, "%.*s", BYTES_ARG(rig_look(rig, "a1")->letter_id));
    assert_bytes(rig_look(rig, "a2")->blocked_by, letter);
    assert_null(rig_call(rig, "a2"));
    rig_mark(rig, "a1", STATE_RESOLVED);
    assert_non_null(rig_call(rig, "a2"));
    rig_free(rig);
}

static void on_dead_continue_lets_the_key_go_on_while_its_head_waits_for_room(void **state) {
    (void)state;
    struct rig *rig = rig_capped(1);
    rig->rules.order = ORDER_KEY;
    rig->rules.on_dead_continue = true;
    rig_open(rig);
    rig_push_and_fail(rig, "first", 400);
    rig_push_message(rig, "a1", "a", NULL);
    rig_push_message(rig, "a2", "a", NULL);
    rig_rest(rig);
    rig_fail(rig, "a1", 400);
    assert_awaits_room(rig, "a1", "dlq q.dlq is full");
    assert_non_null(rig_call(rig, "a2"));
    rig_free(rig);
}

static void a_failed_lease_waits_for_room_and_is_not_leased_again(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    rig->dlqs[0].cap = 1; /* read by the engine as it is now */
    struct fetched got;
    rig_push(rig, "a");
    rig_push(rig, "b");
    lease_rig_fetch(rig, &got, 2);
    assert_int_equal(got.count, 2);
    assert_int_equal(lease_rig_fail(rig, got.leases[0], "KeyError"), STATUS_OK);
    assert_int_equal(lease_rig_fail(rig, got.leases[1], "KeyError"), STATUS_OK);
    assert_awaits_room(rig, "b", "dlq q.dlq is full");
    rig_pass(rig, 60 * 1000);
    lease_rig_fetch(rig, &got, 2);
    assert_int_equal(got.count, 0);
    rig_free(rig);
}

static void a_brokers_message_is_stored_and_settled(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.server = true});
    rig->dlqs[0].cap = 1;
    rig_open(rig);
    fake_server_push(rig->server, "a", NULL, BYTES("{}"));
    fake_server_push(rig->server, "b", NULL, BYTES("{}"));
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    rig_clear_log(rig);
    rig_fail(rig, "b", 400);
    rig_assert_log(rig, "submit:put(b) settle(b)");
    assert_awaits_room(rig, "b", "dlq q.dlq is full");
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_for_a_full_dlq_is_stored_and_not_handed_over_again),
        cmocka_unit_test(it_becomes_the_letter_that_it_was_judged_to_be_once_there_is_room),
        cmocka_unit_test(a_full_dlq_has_room_below_95_percent),
        cmocka_unit_test(a_replayed_letter_keeps_its_place_and_never_waits),
        cmocka_unit_test(a_restart_hands_nothing_over_that_waits_for_room),
        cmocka_unit_test(a_larger_cap_makes_room_also_for_a_paused_queue),
        cmocka_unit_test(letters_on_their_way_count_towards_the_cap),
        cmocka_unit_test(healthy_messages_and_other_dlqs_are_not_held_by_a_full_route),
        cmocka_unit_test(with_a_thousand_waiting_the_queue_receives_nothing_and_retries_go_on),
        cmocka_unit_test(a_report_for_the_full_dlq_is_refused_and_others_are_taken),
        cmocka_unit_test(an_ordered_head_that_waits_for_room_closes_its_key),
        cmocka_unit_test(on_dead_continue_lets_the_key_go_on_while_its_head_waits_for_room),
        cmocka_unit_test(a_failed_lease_waits_for_room_and_is_not_leased_again),
        cmocka_unit_test(a_brokers_message_is_stored_and_settled),
    };
    return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
