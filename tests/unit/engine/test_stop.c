/* Stopping: what is under way has its time, then it is interrupted, and nothing keeps us for ever.
 */
#include "rig.h"

#include "store/fake_store.h"

enum { DRAIN_MS = 100, TICK_MS = 10, TICKS_MAX = 10000 };

static struct rig *rig_stopping(struct rig_options options) {
    struct rig *rig = rig_new(options);
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    engine_hold(rig->engine, DRAIN_MS);
    engine_stop(rig->engine);
    rig_rest(rig);
    rig_clear_log(rig);
    return rig;
}

static const struct outcome interrupted = {.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};

static void a_stop_waits_for_what_is_under_way_and_receives_nothing(void **state) {
    (void)state;
    struct rig *rig = rig_stopping((struct rig_options){0});
    assert_int_equal(rig->next.ms, rig->now.mono.ms + DRAIN_MS);
    rig_push(rig, "b");
    rig_pass(rig, DRAIN_MS - 1);
    rig_assert_log(rig, "");
    rig_succeed(rig, "a");
    rig_assert_log(rig, "submit:forget(a) settle(a)");
    rig_pass(rig, DRAIN_MS);
    rig_assert_log(rig, "");
    rig_free(rig);
}

static void after_the_drain_calls_are_cancelled_once(void **state) {
    (void)state;
    struct rig *rig = rig_stopping((struct rig_options){0});
    rig_pass(rig, DRAIN_MS);
    rig_assert_log(rig, "cancel(a)");
    rig_pass(rig, DRAIN_MS);
    rig_assert_log(rig, "");
    assert_int_equal(rig->next.ms, MONO_NEVER.ms);
    rig_free(rig);
}

static void what_has_ended_and_waits_for_its_commit_is_not_cancelled(void **state) {
    (void)state;
    struct rig *rig = rig_stopping((struct rig_options){.deferred = true});
    rig_succeed(rig, "a");
    rig_pass(rig, DRAIN_MS);
    rig_assert_log(rig, "submit:forget(a)");
    rig_store(rig);
    rig_assert_gone(rig, "a");
    rig_free(rig);
}

static void an_interrupted_call_is_in_the_history_and_counts_nowhere(void **state) {
    (void)state;
    struct rig *rig = rig_stopping((struct rig_options){0});
    struct wall started = rig->now.wall;
    rig_pass(rig, DRAIN_MS);
    rig_answer(rig, "a", interrupted);
    rig_rest(rig);
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->state, STATE_QUEUED);
    assert_int_equal(envelope->attempts, 0);
    assert_int_equal(envelope->crashes, 0);
    assert_int_equal(envelope->history_count, 1);
    assert_true(envelope->history[0].interrupted);
    assert_false(envelope->history[0].counted);
    assert_int_equal(envelope->history[0].at.ms, started.ms);
    assert_int_equal(rig_view(rig).results[RESULT_INTERRUPTED], 1);
    rig_restart(rig);
    rig_rest(rig);
    assert_int_equal(rig_call(rig, "a")->attempt, 1);
    rig_free(rig);
}

static void an_interrupted_retry_is_a_retry_still(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    rig_pass(rig, 1000);
    engine_hold(rig->engine, 0);
    engine_stop(rig->engine);
    rig_rest(rig);
    rig_answer(rig, "a", interrupted);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_RETRY);
    assert_int_equal(rig_look(rig, "a")->attempts, 1);
    rig_restart(rig);
    rig_rest(rig);
    assert_int_equal(rig_call(rig, "a")->attempt, 2);
    rig_free(rig);
}

static void a_call_that_ends_by_itself_after_the_cancel_is_judged(void **state) {
    (void)state;
    struct rig *rig = rig_stopping((struct rig_options){0});
    rig_pass(rig, DRAIN_MS);
    rig_fail(rig, "a", 400);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

static void no_fallback_is_begun_while_stopping(void **state) {
    (void)state;
    struct rig *rig = rig_stopping((struct rig_options){.handlers = 2});
    struct outcome outcome = rig_outcome(KIND_STATUS, 500);
    outcome.has_verdict = true;
    outcome.verdict = VERDICT_FALLBACK;
    rig_answer(rig, "a", outcome);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_RETRY);
    rig_free(rig);
}

/* ---- engine_run: the clock is how a test gets a word in ---- */

static size_t ticks;

static void pass_time(struct rig *rig) {
    rig->now.mono.ms += TICK_MS;
    rig->now.wall.ms += TICK_MS;
    if (++ticks > TICKS_MAX)
        fail_msg("the engine does not stop");
}

static void run(struct rig *rig, void (*tick)(struct rig *rig)) {
    ticks = 0;
    rig->tick = tick;
    engine_hold(rig->engine, DRAIN_MS);
    engine_stop(rig->engine);
    engine_run(rig->engine);
    rig->tick = NULL;
}

static void succeed_in_time(struct rig *rig) {
    pass_time(rig);
    if (ticks == 3)
        rig_answer(rig, "a", (struct outcome){.ending = ENDING_OK});
}

static void a_drained_engine_leaves(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    run(rig, succeed_in_time);
    rig_assert_gone(rig, "a");
    assert_true(ticks < DRAIN_MS / TICK_MS);
    rig_free(rig);
}

static void an_idle_engine_leaves_at_once(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_rest(rig);
    run(rig, pass_time);
    assert_true(ticks < DRAIN_MS / TICK_MS);
    rig_free(rig);
}

/* A good while after the cancel, as a slow handler would. */
static void end_slowly(struct rig *rig) {
    pass_time(rig);
    struct rig_call *call = rig_call(rig, "slow");
    if (call && call->cancelled && ticks > 10 * DRAIN_MS / TICK_MS)
        rig_answer(rig, "slow", interrupted);
}

static void a_store_that_takes_nothing_does_not_keep_it(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    fake_store_fail(rig->store, STATUS_FULL, SIZE_MAX);
    rig_succeed(rig, "a");
    run(rig, pass_time);
    assert_true(ticks >= DRAIN_MS / TICK_MS);
    assert_non_null(rig_look(rig, "a"));
    rig_free(rig);
}

/* Its answer would come to an engine that is gone. */
static void a_call_under_way_keeps_it_even_then(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_push(rig, "slow");
    rig_rest(rig);
    fake_store_fail(rig->store, STATUS_FULL, SIZE_MAX);
    rig_succeed(rig, "a");
    run(rig, end_slowly);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_waits_for_what_is_under_way_and_receives_nothing),
        cmocka_unit_test(after_the_drain_calls_are_cancelled_once),
        cmocka_unit_test(what_has_ended_and_waits_for_its_commit_is_not_cancelled),
        cmocka_unit_test(an_interrupted_call_is_in_the_history_and_counts_nowhere),
        cmocka_unit_test(an_interrupted_retry_is_a_retry_still),
        cmocka_unit_test(a_call_that_ends_by_itself_after_the_cancel_is_judged),
        cmocka_unit_test(no_fallback_is_begun_while_stopping),
        cmocka_unit_test(a_drained_engine_leaves),
        cmocka_unit_test(an_idle_engine_leaves_at_once),
        cmocka_unit_test(a_store_that_takes_nothing_does_not_keep_it),
        cmocka_unit_test(a_call_under_way_keeps_it_even_then),
    };
    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
