/* What failed comes again: after its delay, within the budget, past the fallbacks. */
#include "rig.h"

static void a_retry_comes_after_its_delay_and_not_before(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_int_equal(envelope->attempts, 1);
    assert_int_equal(envelope->next_attempt_at.ms, rig->now.wall.ms + 1000);
    rig_pass(rig, 999);
    assert_null(rig_call(rig, "a"));
    rig_pass(rig, 1);
    assert_int_equal(rig_call(rig, "a")->attempt, 2);
    rig_fail(rig, "a", 503);
    rig_pass(rig, 1999);
    assert_null(rig_call(rig, "a"));
    rig_pass(rig, 1);
    assert_int_equal(rig_call(rig, "a")->attempt, 3);
    assert_int_equal(rig_view(rig).retries, 2);
    rig_free(rig);
}

static void a_clock_that_jumps_changes_no_delay(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    rig->now.wall.ms += 3600000;
    rig_pass(rig, 999);
    assert_null(rig_call(rig, "a"));
    rig->now.wall.ms -= 7200000;
    rig_pass(rig, 1);
    assert_non_null(rig_call(rig, "a"));
    rig_free(rig);
}

static void a_clock_that_jumps_ahead_makes_nobody_old(void **state) {
    (void)state;
    enum { DAYS_3_MS = 3 * 86400000 };
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "before");
    rig_rest(rig);
    rig_fail(rig, "before", 503);
    rig->now.wall.ms += DAYS_3_MS;
    rig_pass(rig, 1000);
    rig_fail(rig, "before", 503);
    assert_int_equal(rig_look(rig, "before")->state, STATE_PENDING_RETRY);
    rig_push(rig, "after");
    rig_rest(rig);
    rig_fail(rig, "after", 503);
    rig_pass(rig, 2000);
    rig->policy.retry.max_age_ms = 3000;
    rig_fail(rig, "after", 503);
    assert_int_equal(rig_look(rig, "after")->state, STATE_PENDING_RETRY);
    rig_fail(rig, "before", 503);
    assert_int_equal(rig_look(rig, "before")->cause, CAUSE_EXPIRED); /* 3 s of its own */
    rig_free(rig);
}

static void decorrelated_delays_grow_from_the_one_before(void **state) {
    (void)state;
    enum { ATTEMPTS = 12, BASE_MS = 1000 };
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.retry.jitter = JITTER_DECORRELATED;
    rig->policy.retry.attempts = ATTEMPTS + 1;
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    int64_t before = BASE_MS, longest = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        rig_fail(rig, "a", 503);
        int64_t delay = rig_look(rig, "a")->delay_ms;
        assert_in_range(delay, BASE_MS, 3 * before);
        longest = delay > longest ? delay : longest;
        before = delay;
        rig_pass(rig, delay);
    }
    assert_true(longest > 3 * BASE_MS);
    rig_free(rig);
}

static void due_retries_go_before_new_messages(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 1;
    rig_open(rig);
    rig_push(rig, "old");
    rig_rest(rig);
    rig_fail(rig, "old", 503);
    rig_push(rig, "new1");
    rig_push(rig, "new2");
    rig_rest(rig);
    rig_clear_log(rig);
    rig_pass(rig, 1000);
    rig_succeed(rig, "new1");
    rig_assert_log(rig, "start(old) submit:forget(new1) settle(new1)");
    rig_free(rig);
}

static void a_downstream_that_names_a_time_is_given_it(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    struct outcome busy = rig_outcome(KIND_STATUS, 429);
    busy.retry_after_ms = 45000;
    rig_answer(rig, "a", busy);
    rig_rest(rig);
    rig_pass(rig, 44999);
    assert_null(rig_call(rig, "a"));
    rig_pass(rig, 1);
    assert_non_null(rig_call(rig, "a"));
    rig_free(rig);
}

/* 3/s is 30 in any 10 s. */
static void the_budget_holds_retries_back_and_lets_them_go_later(void **state) {
    (void)state;
    enum { MESSAGES = 50, FLOOR = 30 };
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.breaker.off = true;
    rig->concurrency = MESSAGES;
    rig_open(rig);
    rig_push_many(rig, MESSAGES);
    rig_rest(rig);
    rig_fail_all(rig, 503);
    rig_pass(rig, 1000);
    assert_int_equal(rig_open_calls(rig), FLOOR);
    assert_true(rig_view(rig).budget_remaining_ratio == 0.0);
    assert_int_equal(rig_view(rig).counts.pending_retry, MESSAGES - FLOOR);
    for (int second = 1; second < 10; second++) {
        rig_pass(rig, 1000);
        assert_int_equal(rig_open_calls(rig), FLOOR);
    }
    rig_pass(rig, 2000);
    assert_int_equal(rig_open_calls(rig), MESSAGES);
    assert_int_equal(rig_look(rig, "m50")->attempts, 1);
    rig_free(rig);
}

static void the_budget_holds_up_no_new_message(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.retry.budget_floor_permille = 100; /* one in 10 s */
    rig_open(rig);
    rig_push_many(rig, 2);
    rig_rest(rig);
    rig_fail_all(rig, 503);
    rig_pass(rig, 1000);
    assert_int_equal(rig_open_calls(rig), 1);
    rig_push(rig, "new");
    rig_rest(rig);
    assert_non_null(rig_call(rig, "new"));
    rig_free(rig);
}

/* Other 5xx falls back, as in the preset for AI APIs. */
static struct rig *rig_with_fallbacks(void) {
    struct rig *rig = rig_new((struct rig_options){.handlers = 3});
    rig->policy.presets[0] = PRESET_AI_API;
    return rig;
}

static void fallbacks_are_walked_within_one_attempt(void **state) {
    (void)state;
    struct rig *rig = rig_with_fallbacks();
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    for (uint32_t n = 0; n < 3; n++) {
        assert_int_equal(rig_call(rig, "a")->fallback, n);
        assert_int_equal(rig_call(rig, "a")->attempt, 1);
        rig_fail(rig, "a", 500);
    }
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_int_equal(envelope->attempts, 1);
    assert_int_equal(envelope->history_count, 1);
    assert_int_equal(envelope->history[0].verdict, VERDICT_RETRY);
    assert_int_equal(rig_view(rig).fallbacks, 2);
    rig_pass(rig, 1000);
    assert_int_equal(rig_call(rig, "a")->fallback, 0);
    assert_int_equal(rig_call(rig, "a")->attempt, 2);
    rig_free(rig);
}

static void a_fallback_that_succeeds_ends_it(void **state) {
    (void)state;
    struct rig *rig = rig_with_fallbacks();
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 500);
    rig_succeed(rig, "a");
    rig_assert_gone(rig, "a");
    assert_int_equal(rig_view(rig).results[RESULT_OK], 1);
    assert_int_equal(rig_view(rig).results[RESULT_RETRY], 0);
    rig_free(rig);
}

/* max_age runs from a failure that counted. */
static void an_attempt_that_ends_in_halt_leaves_no_first_failure(void **state) {
    (void)state;
    struct rig *rig = rig_with_fallbacks();
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 401);
    rig_pass(rig, OPINION_WAIT_MS);
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    assert_int_equal(rig_look(rig, "a")->first_failure_at.ms, WALL_NEVER.ms);
    rig_free(rig);
}

static void an_attempt_that_is_interrupted_leaves_no_first_failure(void **state) {
    (void)state;
    struct rig *rig = rig_with_fallbacks();
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 500);
    rig_answer(rig, "a", (struct outcome){.ending = ENDING_INTERRUPTED});
    rig_turn(rig);
    assert_int_equal(rig_look(rig, "a")->first_failure_at.ms, WALL_NEVER.ms);
    rig_free(rig);
}

static void the_last_attempt_is_the_last(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.retry.attempts = 3;
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    for (int i = 0; i < 3; i++) {
        rig_fail(rig, "a", 503);
        rig_pass(rig, 30000);
    }
    assert_int_equal(rig->call_count, 3);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->cause, CAUSE_EXHAUSTED);
    assert_bytes(letter->reason, "max_attempts:upstream_busy");
    assert_int_equal(letter->attempts, 3);
    assert_int_equal(letter->history_count, 3);
    rig_free(rig);
}

static void a_message_that_is_too_old_expires_when_it_fails(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.retry.max_age_ms = 5000;
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    rig_ask(rig, ENGINE_PAUSE, "lunch");
    rig_pass(rig, 10000);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_RETRY);
    rig_ask(rig, ENGINE_RESUME, "");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    assert_int_equal(rig_look(rig, "a")->cause, CAUSE_EXPIRED);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retry_comes_after_its_delay_and_not_before),
        cmocka_unit_test(a_clock_that_jumps_changes_no_delay),
        cmocka_unit_test(a_clock_that_jumps_ahead_makes_nobody_old),
        cmocka_unit_test(decorrelated_delays_grow_from_the_one_before),
        cmocka_unit_test(due_retries_go_before_new_messages),
        cmocka_unit_test(a_downstream_that_names_a_time_is_given_it),
        cmocka_unit_test(the_budget_holds_retries_back_and_lets_them_go_later),
        cmocka_unit_test(the_budget_holds_up_no_new_message),
        cmocka_unit_test(fallbacks_are_walked_within_one_attempt),
        cmocka_unit_test(a_fallback_that_succeeds_ends_it),
        cmocka_unit_test(an_attempt_that_ends_in_halt_leaves_no_first_failure),
        cmocka_unit_test(an_attempt_that_is_interrupted_leaves_no_first_failure),
        cmocka_unit_test(the_last_attempt_is_the_last),
        cmocka_unit_test(a_message_that_is_too_old_expires_when_it_fails),
    };
    return cmocka_run_group_tests_name("retry", tests, NULL, NULL);
}
