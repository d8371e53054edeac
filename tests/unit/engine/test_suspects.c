/* Our own death, when handlers run inside our process: who was inside is a suspect, suspects run
 * one at a time while others flow, and only who dies alone is to blame (SEMANTICS 5.1). */
#include "rig.h"

#include <stdio.h>

#include "base/tempdir.h"

static char folder[64], path[96];

static int make_folder(void **state) {
    (void)state;
    if (tempdir_make("/tmp", "impound-suspects", folder, sizeof folder, NULL))
        return -1;
    snprintf(path, sizeof path, "%s/flights", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    tempdir_remove(folder);
    return 0;
}

/* All of them are in the handler's hands. */
static struct rig *start_rig(bool in_process, const char *const *ids) {
    struct rig *rig =
        rig_new((struct rig_options){.attempt_log_path = path, .in_process = in_process});
    rig_open(rig);
    for (; *ids; ids++)
        rig_push(rig, *ids);
    rig_rest(rig);
    return rig;
}

/* They run inside our own process. */
#define INSIDE(...) start_rig(true, (const char *const[]){__VA_ARGS__, NULL})

static size_t runs(struct rig *rig, const char *id) {
    return rig_call(rig, id) ? 1 : 0;
}

static void of_several_none_is_blamed_and_one_runs_at_a_time(void **state) {
    (void)state;
    struct rig *rig = INSIDE("a", "b", "c");
    rig_die(rig);
    rig_push(rig, "new");
    rig_rest(rig);
    assert_int_equal(runs(rig, "a") + runs(rig, "b") + runs(rig, "c"), 1);
    assert_int_equal(runs(rig, "new"), 1);
    rig_succeed(rig, "a");
    assert_int_equal(runs(rig, "b") + runs(rig, "c"), 1);
    rig_succeed(rig, "b");
    rig_fail(rig, "c", 503);
    const struct envelope *envelope = rig_look(rig, "c");
    assert_int_equal(envelope->crashes, 0);
    assert_int_equal(envelope->attempts, 1);
    assert_false(envelope->suspect);
    assert_true(envelope->history[0].interrupted);
    assert_int_equal(envelope->history_count, 2);
    rig_free(rig);
}

static void the_only_one_inside_is_to_blame_at_once(void **state) {
    (void)state;
    struct rig *rig = INSIDE("a");
    rig_die(rig);
    rig_rest(rig);
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_int_equal(envelope->crashes, 1);
    assert_int_equal(envelope->attempts, 1);
    assert_true(envelope->suspect);
    assert_bytes(envelope->category, "crash");
    rig_free(rig);
}

/* Kills the process whenever it runs; everybody else is answered well. */
static void die_of(struct rig *rig, const char *killer) {
    for (int turn = 0; turn < 20; turn++) {
        rig_pass(rig, 60000);
        if (rig_call(rig, killer)) {
            rig_die(rig);
            rig_rest(rig);
            return;
        }
        rig_succeed_all(rig);
    }
    fail_msg("%s never ran", killer);
}

static void who_dies_alone_three_times_is_dead_by_crash(void **state) {
    (void)state;
    struct rig *rig = INSIDE("a", "killer", "c");
    rig_die(rig);
    rig_rest(rig);
    for (uint32_t crashes = 1; crashes <= 3; crashes++) {
        die_of(rig, "killer");
        rig_push(rig, crashes == 1 ? "d" : "e");
        assert_int_equal(rig_look(rig, "killer")->crashes, crashes);
    }
    const struct envelope *envelope = rig_look(rig, "killer");
    assert_int_equal(envelope->state, STATE_PENDING_REVIEW);
    assert_int_equal(envelope->cause, CAUSE_CRASH);
    assert_int_equal(envelope->attempts, 3);
    rig_pass(rig, 1000);
    rig_succeed_all(rig);
    rig_succeed_all(rig);
    rig_assert_gone(rig, "a");
    rig_assert_gone(rig, "c");
    rig_free(rig);
}

static void a_second_death_forgets_no_suspect(void **state) {
    (void)state;
    struct rig *rig = INSIDE("a", "b", "c");
    rig_die(rig); /* nobody was handed over … */
    rig_die(rig); /* … before the next death */
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 1);
    rig_free(rig);
}

static void while_one_suspect_dies_the_others_stay_suspects(void **state) {
    (void)state;
    struct rig *rig = INSIDE("a", "b", "c");
    rig_die(rig);
    rig_rest(rig);
    assert_non_null(rig_call(rig, "a"));
    rig_die(rig);
    rig_rest(rig);
    assert_int_equal(rig_look(rig, "a")->crashes, 1);
    assert_int_equal(rig_open_calls(rig), 1);
    assert_non_null(rig_call(rig, "b"));
    rig_succeed(rig, "b");
    rig_fail(rig, "c", 400);
    assert_int_equal(rig_look(rig, "c")->crashes, 0);
    rig_free(rig);
}

static void other_peoples_processes_are_interrupted_and_not_suspected(void **state) {
    (void)state;
    struct rig *rig = start_rig(false, (const char *const[]){"a", "b", NULL});
    rig_die(rig);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 2);
    rig_fail(rig, "a", 503);
    assert_int_equal(rig_look(rig, "a")->crashes, 0);
    assert_true(rig_look(rig, "a")->history[0].interrupted);
    rig_free(rig);
}

static void a_stop_leaves_nobody_suspect(void **state) {
    (void)state;
    struct rig *rig = INSIDE("a", "b");
    engine_hold(rig->engine, 0);
    rig_rest(rig);
    struct outcome interrupted = {.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};
    rig_answer(rig, "a", interrupted);
    rig_answer(rig, "b", interrupted);
    rig_rest(rig);
    rig_die(rig);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 2);
    rig_free(rig);
}

/* Nothing but suspects is left to ask the downstream with. */
static void suspects_that_wait_close_the_breaker_again(void **state) {
    (void)state;
    struct rig *rig = INSIDE("a", "b", "c");
    rig_die(rig);
    rig_rest(rig);
    for (int i = 0; rig_view(rig).breaker == BREAKER_CLOSED; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "n%d", i);
        rig_push(rig, id);
        rig_rest(rig);
        rig_fail(rig, id, 503);
    }
    rig_succeed(rig, "a");
    assert_int_equal(rig_open_calls(rig), 0);
    rig_pass(rig, 2000);
    assert_int_equal(rig_open_calls(rig), 1);
    for (int i = 0; i < 20; i++) {
        rig_succeed_all(rig);
        rig_pass(rig, 2000);
    }
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    rig_assert_gone(rig, "b");
    rig_assert_gone(rig, "c");
    rig_free(rig);
}

#define with_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        with_folder(of_several_none_is_blamed_and_one_runs_at_a_time),
        with_folder(the_only_one_inside_is_to_blame_at_once),
        with_folder(who_dies_alone_three_times_is_dead_by_crash),
        with_folder(a_second_death_forgets_no_suspect),
        with_folder(while_one_suspect_dies_the_others_stay_suspects),
        with_folder(other_peoples_processes_are_interrupted_and_not_suspected),
        with_folder(a_stop_leaves_nobody_suspect),
        with_folder(suspects_that_wait_close_the_breaker_again),
    };
    return cmocka_run_group_tests_name("suspects", tests, NULL, NULL);
}
