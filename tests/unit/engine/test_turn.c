/* One turn: receive, hand over, judge, record, settle. */
#include "rig.h"

static void a_success_is_forgotten_and_then_settled(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_assert_log(rig, "start(a)");
    assert_int_equal(rig_view(rig).in_flight, 1);
    rig_succeed(rig, "a");
    rig_assert_log(rig, "submit:forget(a) settle(a)");
    rig_assert_gone(rig, "a");
    assert_int_equal(rig_view(rig).in_flight, 0);
    assert_int_equal(rig_view(rig).results[RESULT_OK], 1);
    rig_free(rig);
}

static void the_call_carries_the_message(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    const struct call *call = rig_call(rig, "a")->call;
    assert_bytes(call->queue, "q");
    assert_bytes(call->id, "a");
    assert_bytes(call->body, "{}");
    assert_bytes(call->content_type, "application/json");
    assert_int_equal(call->attempt, 1);
    assert_int_equal(call->replay, 0);
    assert_int_equal(call->fallback, 0);
    assert_int_equal(call->first_attempt_at.ms, rig->now.wall.ms);
    rig_free(rig);
}

static void nothing_is_settled_before_its_commit_is_durable(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig_open(rig);
    rig_push(rig, "good");
    rig_push(rig, "bad");
    rig_rest(rig);
    rig_clear_log(rig);
    rig_answer(rig, "good", (struct outcome){.ending = ENDING_OK});
    rig_fail(rig, "bad", 400);
    rig_assert_log(rig, "submit:forget(good) submit:update(bad)");
    rig_pass(rig, 60000);
    rig_assert_log(rig, "");
    assert_non_null(rig_look(rig, "good"));
    assert_false(rig_saw_event(rig, "\"type\":\"letter\""));
    rig_store(rig);
    rig_assert_log(rig, "settle(good) settle(bad)");
    assert_true(rig_saw_event(rig, "\"type\":\"letter\""));
    rig_assert_gone(rig, "good");
    rig_free(rig);
}

static void the_decisions_of_a_turn_are_one_commit(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig_open(rig);
    rig_push_many(rig, 4);
    rig_rest(rig);
    rig_answer(rig, "m1", (struct outcome){.ending = ENDING_OK});
    rig_answer(rig, "m2", (struct outcome){.ending = ENDING_OK});
    rig_answer(rig, "m3", rig_outcome(KIND_STATUS, 404));
    rig_turn(rig);
    struct commit *only = CONTAINER_OF(rig->engine->commits.next, struct commit, link);
    assert_ptr_equal(only->link.next, &rig->engine->commits);
    assert_int_equal(only->store.count, 3);
    rig_store(rig);
    rig_free(rig);
}

static void no_more_calls_are_under_way_than_the_concurrency_allows(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 3;
    rig_open(rig);
    rig_push_many(rig, 5);
    rig_rest(rig);
    rig_assert_log(rig, "start(m1) start(m2) start(m3)");
    rig_succeed(rig, "m2");
    assert_int_equal(rig_open_calls(rig), 3);
    assert_non_null(rig_call(rig, "m4"));
    rig_fail(rig, "m1", 400);
    assert_non_null(rig_call(rig, "m5"));
    assert_int_equal(rig_view(rig).in_flight, 3);
    rig_free(rig);
}

/* A handler that is faster than the disk must not fill our memory. */
static void a_queue_with_too_many_unsettled_receives_nothing(void **state) {
    (void)state;
    enum { MANY = 2 * QUEUE_SETTLING_MAX };
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig->concurrency = QUEUE_SETTLING_MAX;
    rig_open(rig);
    rig_push_many(rig, MANY);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), QUEUE_SETTLING_MAX);
    for (size_t i = 0; i < QUEUE_SETTLING_MAX; i++)
        rig_answer(rig, rig->calls[i].id, (struct outcome){.ending = ENDING_OK});
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig->next.ms, MONO_NEVER.ms);
    rig_store(rig);
    assert_int_equal(rig_open_calls(rig), QUEUE_SETTLING_MAX);
    rig_free(rig);
}

static void a_push_wakes_the_engine(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_rest(rig);
    assert_int_equal(rig->next.ms, MONO_NEVER.ms);
    assert_false(rig->engine->mailbox.rung);
    rig_push(rig, "a");
    assert_true(rig->engine->mailbox.rung);
    rig_turn(rig);
    rig_assert_log(rig, "start(a)");
    rig_free(rig);
}

static void idle_queues_are_not_looked_at(void **state) {
    (void)state;
    enum { QUEUES = 1000 };
    struct rig *rig = rig_new((struct rig_options){.queues = QUEUES});
    rig_open(rig);
    rig_rest(rig);
    for (size_t i = 0; i < QUEUES; i++)
        rig->brokers[i].asked = 0;
    rig_push_to(rig, "q7", "a");
    rig_rest(rig);
    rig_succeed(rig, "a");
    rig_pass(rig, 3600000);
    for (size_t i = 0; i < QUEUES; i++)
        assert_int_equal(rig->brokers[i].asked > 0, i == 7);
    rig_free(rig);
}

static void a_turn_says_when_the_next_is_wanted(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.queues = 2});
    rig->policy.retry.shape = BACKOFF_LIST;
    rig->policy.retry.delay_count = 2;
    rig->policy.retry.delays_ms[0] = 700;
    rig->policy.retry.delays_ms[1] = 90;
    rig_open(rig);
    int64_t start = rig->now.mono.ms;
    rig_push(rig, "a");
    rig_push_to(rig, "q1", "b");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    assert_int_equal(rig->next.ms, start + 700);
    rig_pass(rig, 100);
    rig_fail(rig, "b", 503);
    assert_int_equal(rig->next.ms, start + 700);
    rig_pass(rig, 600);
    assert_non_null(rig_call(rig, "a"));
    assert_int_equal(rig->next.ms, start + 800);
    rig_fail(rig, "a", 503);
    assert_int_equal(rig->next.ms, start + 790);
    rig_free(rig);
}

static void the_view_counts_what_happened(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push_many(rig, 4);
    rig_rest(rig);
    rig_fail(rig, "m1", 503);
    rig_fail(rig, "m2", 400);
    rig_succeed(rig, "m3");
    struct engine_queue_view view = rig_view(rig);
    assert_string_equal(view.name, "q");
    assert_string_equal(view.handler, "http");
    assert_string_equal(view.source, "builtin");
    assert_int_equal(view.in_flight, 1);
    assert_int_equal(view.counts.pending_retry, 1);
    assert_int_equal(view.results[RESULT_RETRY], 1);
    assert_int_equal(view.results[RESULT_DLQ], 1);
    assert_int_equal(view.results[RESULT_OK], 1);
    assert_int_equal(view.rates.in, 4);
    assert_int_equal(view.rates.failed, 2);
    assert_int_equal(view.rates.ok, 1);
    rig_succeed(rig, "m4");
    rig_pass(rig, 1000);
    rig_succeed(rig, "m1");
    assert_int_equal(rig_view(rig).rates.in, 4); /* a retry does not come in again */
    rig_pass(rig, 61000);
    assert_int_equal(rig_view(rig).rates.failed, 0);
    assert_false(engine_view(rig->engine, BYTES("nobody"), &view));
    assert_int_equal(engine_queue_count(rig->engine), 1);
    rig_free(rig);
}

enum { MINUTE_MS = 60 * 1000 };

static void rates_are_averages_of_the_window_that_is_asked_for(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 20;
    rig_open(rig);
    rig_pass(rig, MINUTE_MS - rig->now.mono.ms % MINUTE_MS);
    rig_push_many(rig, 20);
    rig_rest(rig);
    rig_succeed_all(rig);
    rig_pass(rig, 4 * MINUTE_MS);
    assert_int_equal(engine_rates_at(rig->engine, 0, MINUTE_MS).ok, 0);
    assert_int_equal(engine_rates_at(rig->engine, 0, 5 * MINUTE_MS).ok, 4);
    rig_pass(rig, 2 * MINUTE_MS);
    assert_int_equal(engine_rates_at(rig->engine, 0, 5 * MINUTE_MS).ok, 0);
    assert_int_equal(engine_rates_at(rig->engine, 0, 20 * MINUTE_MS).ok, 1);
    rig_pass(rig, 61 * MINUTE_MS);
    assert_int_equal(engine_rates_at(rig->engine, 0, 60 * MINUTE_MS).ok, 0);
    rig_free(rig);
}

static void a_replay_too_many_waits_for_a_commit_and_wakes_nobody(void **state) {
    (void)state;
    static const char *const ids[] = {"m1", "m2", "m3"};
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig->concurrency = 2;
    rig_open(rig);
    rig_push_many(rig, 3);
    for (size_t i = 0; i < 3; i++) {
        rig_rest(rig);
        rig_fail(rig, ids[i], 400);
        rig_store(rig);
    }
    for (size_t i = 0; i < 3; i++)
        rig_replay(rig, ids[i]);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 2);
    rig_succeed(rig, "m1");
    rig_succeed(rig, "m2");
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig->next.ms, MONO_NEVER.ms);
    rig_store(rig);
    assert_non_null(rig_call(rig, "m3"));
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_is_forgotten_and_then_settled),
        cmocka_unit_test(the_call_carries_the_message),
        cmocka_unit_test(nothing_is_settled_before_its_commit_is_durable),
        cmocka_unit_test(the_decisions_of_a_turn_are_one_commit),
        cmocka_unit_test(no_more_calls_are_under_way_than_the_concurrency_allows),
        cmocka_unit_test(a_queue_with_too_many_unsettled_receives_nothing),
        cmocka_unit_test(a_push_wakes_the_engine),
        cmocka_unit_test(idle_queues_are_not_looked_at),
        cmocka_unit_test(a_turn_says_when_the_next_is_wanted),
        cmocka_unit_test(the_view_counts_what_happened),
        cmocka_unit_test(a_replay_too_many_waits_for_a_commit_and_wakes_nobody),
        cmocka_unit_test(rates_are_averages_of_the_window_that_is_asked_for),
    };
    return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
