/* An outage: everything is held, a few are sent ahead, and nobody pays for it with an attempt. */
#include "rig.h"

enum { FIRST_OPEN_MS = BREAKER_FIRST_OPEN_MS };

static struct rig *rig_of(uint32_t concurrency) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = concurrency;
    rig_open(rig);
    return rig;
}

static void five_failures_in_a_row_stop_everything(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    assert_true(rig_saw_event(rig, "\"type\":\"breaker\""));
    assert_int_equal(rig_view(rig).breaker_until.ms, rig->now.wall.ms + FIRST_OPEN_MS);
    assert_string_equal(rig_view(rig).breaker_why, "HTTP 503 it said no");
    size_t asked = rig->brokers[0].asked;
    rig_push(rig, "new");
    rig_pass(rig, FIRST_OPEN_MS - 1);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig->brokers[0].asked, asked);
    assert_int_equal(rig->next.ms, rig->now.mono.ms + 1);
    rig_free(rig);
}

static void a_downstream_that_names_a_time_is_left_alone_until_then(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    struct outcome busy = rig_outcome(KIND_STATUS, 503);
    busy.retry_after_ms = 20000;
    rig_push_many(rig, 5);
    rig_rest(rig);
    for (size_t i = 0; i < 5; i++)
        rig_answer(rig, rig->calls[i].id, busy);
    rig_rest(rig);
    rig_pass(rig, 19999);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_pass(rig, 1);
    assert_int_equal(rig_open_calls(rig), 1);
    rig_free(rig);
}

static void the_first_probe_is_one_that_was_never_attempted(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push(rig, "new");
    rig_pass(rig, FIRST_OPEN_MS);
    assert_int_equal(rig_open_calls(rig), 1);
    assert_non_null(rig_call(rig, "new"));
    assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
    rig_free(rig);
}

static void a_failed_probe_is_in_the_history_and_counts_nowhere(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push(rig, "new");
    rig_pass(rig, FIRST_OPEN_MS);
    rig_answer(rig, "new", rig_outcome(KIND_RESET, 0));
    rig_rest(rig);
    const struct envelope *envelope = rig_look(rig, "new");
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_int_equal(envelope->attempts, 0);
    assert_int_equal(envelope->crashes, 0);
    assert_int_equal(envelope->first_failure_at.ms, WALL_NEVER.ms);
    assert_int_equal(envelope->history_count, 1);
    assert_false(envelope->history[0].counted);
    assert_true(envelope->history[0].probe);
    assert_int_equal(rig_view(rig).results[RESULT_PROBE_FAILED], 1);
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    rig_pass(rig, 2 * FIRST_OPEN_MS - 1);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_pass(rig, 1);
    assert_int_equal(rig_open_calls(rig), 1);
    rig_free(rig);
}

static void no_message_probes_twice_in_a_row_while_another_waits(void **state) {
    (void)state;
    static const char *const probes[] = {"n1", "n2", "n1", "n2"};
    struct rig *rig = rig_of(5);
    rig->policy.breaker.open_ms = FIRST_OPEN_MS;
    rig_break_down(rig);
    rig_push(rig, "n1");
    rig_push(rig, "n2");
    rig_rest(rig);
    for (size_t i = 0; i < 4; i++) {
        rig_pass(rig, FIRST_OPEN_MS);
        assert_int_equal(rig_open_calls(rig), 1);
        assert_non_null(rig_call(rig, probes[i]));
        rig_fail(rig, probes[i], 503);
    }
    rig_free(rig);
}

static void a_lone_new_message_takes_turns_with_those_that_wait_for_a_retry(void **state) {
    (void)state;
    static const char *const probes[] = {"new", "f1", "new", "f2"};
    struct rig *rig = rig_of(5);
    rig->policy.breaker.open_ms = FIRST_OPEN_MS;
    rig_break_down(rig);
    rig_push(rig, "new");
    rig_rest(rig);
    for (size_t i = 0; i < 4; i++) {
        rig_pass(rig, FIRST_OPEN_MS);
        assert_int_equal(rig_open_calls(rig), 1);
        assert_non_null(rig_call(rig, probes[i]));
        rig_fail(rig, probes[i], 503);
    }
    assert_int_equal(rig_look(rig, "f1")->attempts, 1);
    rig_free(rig);
}

/* Four may fail five times in a row before the breaker knows better; then only one is left. */
static void a_message_that_is_alone_probes_again_and_again(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig->policy.breaker.open_ms = FIRST_OPEN_MS;
    rig->policy.retry.shape = BACKOFF_FIXED;
    rig->policy.retry.cap_ms = rig->policy.retry.base_ms = 3600000;
    rig_break_down(rig);
    rig_push(rig, "only");
    rig_rest(rig);
    for (size_t i = 0; i < 3; i++) {
        rig_pass(rig, FIRST_OPEN_MS);
        assert_non_null(rig_call(rig, "only"));
        rig_fail(rig, "only", 503);
    }
    assert_int_equal(rig_look(rig, "only")->attempts, 0);
    rig_free(rig);
}

/* Nobody else came for a minute: the two may be poison, and whoever comes then shall not wait. */
static void beside_two_that_fail_a_healthy_one_is_tried_within_a_second(void **state) {
    (void)state;
    static const char *const poison[] = {"p1", "p2"};
    struct rig *rig = rig_of(5);
    rig_push(rig, "p1");
    rig_push(rig, "p2");
    rig_rest(rig);
    for (size_t i = 0; i < 120; i++) {
        rig_pass(rig, FIRST_OPEN_MS / 2);
        for (size_t p = 0; p < 2; p++)
            if (rig_call(rig, poison[p]))
                rig_fail(rig, poison[p], 503);
    }
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    rig_push(rig, "healthy");
    rig_pass(rig, FIRST_OPEN_MS);
    rig_succeed(rig, "healthy");
    rig_assert_gone(rig, "healthy");
    rig_free(rig);
}

static void what_was_under_way_when_it_opened_burns_no_attempt(void **state) {
    (void)state;
    struct rig *rig = rig_of(9);
    rig_push_many(rig, 4);
    rig_break_down(rig);
    rig_fail(rig, "m1", 503);
    assert_int_equal(rig_state(rig, "m1"), STATE_PENDING_RETRY);
    assert_int_equal(rig_look(rig, "m1")->attempts, 0);
    assert_false(rig_look(rig, "m1")->history[0].counted);
    rig_fail(rig, "m2", 500); /* dead by its preset, were there no outage */
    assert_int_equal(rig_state(rig, "m2"), STATE_PENDING_RETRY);
    rig_fail(rig, "m3", 400);
    assert_int_equal(rig_state(rig, "m3"), STATE_PENDING_REVIEW);
    rig_succeed(rig, "m4");
    rig_assert_gone(rig, "m4");
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    rig_free(rig);
}

static void those_that_opened_it_were_counted(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    assert_int_equal(rig_look(rig, "f1")->attempts, 1);
    assert_int_equal(rig_look(rig, "f5")->attempts, 1);
    rig_free(rig);
}

static void rounds_double_until_it_closes_and_traffic_flows(void **state) {
    (void)state;
    static const size_t rounds[] = {1, 2, 4, 5};
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push_many(rig, 20);
    rig_pass(rig, FIRST_OPEN_MS);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
        assert_int_equal(rig_open_calls(rig), rounds[i]);
        rig_succeed_all(rig);
    }
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    assert_int_equal(rig_open_calls(rig), 5);
    while (rig_open_calls(rig))
        rig_succeed_all(rig);
    assert_int_equal(rig_view(rig).counts.queued, 0);
    assert_int_equal(rig_view(rig).counts.pending_retry, 0);
    rig_free(rig);
}

static void a_terminal_verdict_on_a_probe_is_carried_out_and_proves_life(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push(rig, "bad");
    rig_pass(rig, FIRST_OPEN_MS);
    rig_fail(rig, "bad", 422);
    assert_int_equal(rig_state(rig, "bad"), STATE_PENDING_REVIEW);
    assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
    assert_int_equal(rig_open_calls(rig), 2);
    rig_free(rig);
}

/* rig_rest fails when the engine wants turn after turn at one moment. */
static void an_old_slow_probe_is_awaited_without_spinning(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push_many(rig, 9);
    rig_pass(rig, FIRST_OPEN_MS);
    rig_succeed(rig, "m1");
    rig_fail(rig, "m2", 503);
    assert_int_equal(rig_open_calls(rig), 1);
    for (size_t i = 0; i < 5; i++) {
        rig_pass(rig, 10000);
        assert_int_equal(rig_open_calls(rig), 1);
        assert_true(rig->next.ms > rig->now.mono.ms);
    }
    rig_succeed(rig, "m3");
    rig_assert_gone(rig, "m3");
    assert_int_equal(rig_open_calls(rig), 1);
    assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
    rig_free(rig);
}

static void a_round_that_lacks_messages_waits_for_them_without_spinning(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_pass(rig, FIRST_OPEN_MS);
    while (rig_open_calls(rig))
        rig_succeed_all(rig);
    assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
    rig_pass(rig, 60000);
    rig_push_many(rig, 9);
    rig_rest(rig);
    while (rig_open_calls(rig))
        rig_succeed_all(rig);
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    assert_int_equal(rig_view(rig).counts.queued, 0);
    rig_free(rig);
}

static void turned_off_it_never_opens(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.breaker.off = true;
    rig->concurrency = 30;
    rig_open(rig);
    rig_push_many(rig, 30);
    rig_rest(rig);
    rig_fail_all(rig, 503);
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    assert_int_equal(rig_look(rig, "m30")->attempts, 1);
    rig_free(rig);
}

static void turning_it_off_while_it_is_open_lets_everything_go(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push(rig, "new");
    rig_rest(rig);
    struct policy without = rig->policy;
    without.breaker.off = true;
    struct engine_rules rules = {
        .policy = &without, .concurrency = 5, .dlqs = rig->dlqs, .dlq_count = 2};
    struct rig_request *asked = rig_request(rig, ENGINE_RELOAD);
    asked->request.rules = &rules;
    engine_ask(rig->engine, &asked->request);
    rig_rest(rig);
    assert_non_null(rig_call(rig, "new"));
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_failures_in_a_row_stop_everything),
        cmocka_unit_test(a_downstream_that_names_a_time_is_left_alone_until_then),
        cmocka_unit_test(the_first_probe_is_one_that_was_never_attempted),
        cmocka_unit_test(a_failed_probe_is_in_the_history_and_counts_nowhere),
        cmocka_unit_test(no_message_probes_twice_in_a_row_while_another_waits),
        cmocka_unit_test(a_lone_new_message_takes_turns_with_those_that_wait_for_a_retry),
        cmocka_unit_test(a_message_that_is_alone_probes_again_and_again),
        cmocka_unit_test(beside_two_that_fail_a_healthy_one_is_tried_within_a_second),
        cmocka_unit_test(what_was_under_way_when_it_opened_burns_no_attempt),
        cmocka_unit_test(those_that_opened_it_were_counted),
        cmocka_unit_test(rounds_double_until_it_closes_and_traffic_flows),
        cmocka_unit_test(a_terminal_verdict_on_a_probe_is_carried_out_and_proves_life),
        cmocka_unit_test(an_old_slow_probe_is_awaited_without_spinning),
        cmocka_unit_test(a_round_that_lacks_messages_waits_for_them_without_spinning),
        cmocka_unit_test(turned_off_it_never_opens),
        cmocka_unit_test(turning_it_off_while_it_is_open_lets_everything_go),
    };
    return cmocka_run_group_tests_name("breaker", tests, NULL, NULL);
}
