/* A store that refuses: nothing is lost, nothing is doubled, and nobody runs hot meanwhile. */
#include "rig.h"

#include <string.h>

#include "store/fake_store.h"

static const enum status troubles[] = {STATUS_IO, STATUS_FULL};

/* a, b and c with one slot: a and b have succeeded, neither is recorded, c waits. */
static struct rig *rig_in_trouble(enum status trouble, size_t failures) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 1;
    rig_open(rig);
    rig_push(rig, "a");
    rig_push(rig, "b");
    rig_push(rig, "c");
    rig_rest(rig);
    fake_store_fail(rig->store, trouble, failures);
    rig_succeed(rig, "a");
    rig_succeed(rig, "b");
    rig_clear_log(rig);
    return rig;
}

static void what_was_refused_is_submitted_again_and_settled_once(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig *rig = rig_in_trouble(troubles[i], 3);
        assert_non_null(rig_look(rig, "a"));
        rig_pass(rig, 2 * RECORD_RETRY_FIRST_MS - 1);
        rig_assert_log(rig, "");
        rig_pass(rig, 1);
        rig_assert_log(rig, "submit:forget(a) submit:forget(b)");
        rig_pass(rig, 4 * RECORD_RETRY_FIRST_MS - 1);
        rig_assert_log(rig, "");
        rig_pass(rig, 1);
        rig_assert_log(rig, "submit:forget(a) submit:forget(b) settle(a) settle(b) start(c)");
        rig_assert_gone(rig, "a");
        rig_assert_gone(rig, "b");
        rig_succeed(rig, "c");
        assert_int_equal(rig->call_count, 3);
        assert_int_equal(rig_view(rig).results[RESULT_OK], 3);
        rig_free(rig);
    }
}

static void a_queue_in_trouble_receives_nothing_however_long_it_lasts(void **state) {
    (void)state;
    struct rig *rig = rig_in_trouble(STATUS_FULL, SIZE_MAX);
    for (int i = 0; i < 100; i++)
        rig_pass(rig, RECORD_RETRY_LAST_MS);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig->call_count, 2);
    rig_free(rig);
}

static void the_pauses_between_tries_grow_to_their_longest(void **state) {
    (void)state;
    struct rig *rig = rig_in_trouble(STATUS_IO, SIZE_MAX);
    for (int i = 0; i < 10; i++)
        rig_pass(rig, RECORD_RETRY_LAST_MS);
    rig_clear_log(rig);
    assert_int_equal(rig->next.ms, rig->now.mono.ms + RECORD_RETRY_LAST_MS);
    rig_pass(rig, RECORD_RETRY_LAST_MS - 1);
    rig_assert_log(rig, "");
    rig_pass(rig, 1);
    rig_assert_log(rig, "submit:forget(a) submit:forget(b)");
    rig_free(rig);
}

static void the_next_trouble_is_tried_again_soon(void **state) {
    (void)state;
    struct rig *rig = rig_in_trouble(STATUS_IO, 4);
    rig_pass(rig, 60000);
    rig_pass(rig, 60000);
    rig_pass(rig, 60000);
    rig_assert_gone(rig, "a");
    fake_store_fail(rig->store, STATUS_IO, 1);
    rig_succeed(rig, "c");
    assert_int_equal(rig->next.ms, rig->now.mono.ms + RECORD_RETRY_FIRST_MS);
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    rig_assert_gone(rig, "c");
    rig_free(rig);
}

static void a_decision_stays_as_it_was_made(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "dead");
    rig_push(rig, "again");
    rig_rest(rig);
    fake_store_fail(rig->store, STATUS_IO, 1);
    struct wall judged = rig->now.wall;
    rig_answer(rig, "dead", rig_outcome(KIND_STATUS, 400));
    rig_fail(rig, "again", 503);
    assert_int_equal(rig_look(rig, "dead")->letter_id.len, 0);
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    assert_int_equal(rig_look(rig, "dead")->dead_at.ms, judged.ms);
    assert_int_equal(rig_look(rig, "dead")->history_count, 1);
    assert_int_equal(rig_look(rig, "again")->attempts, 1);
    assert_int_equal(rig_look(rig, "again")->next_attempt_at.ms, judged.ms + 1000);
    rig_free(rig);
}

static void other_queues_go_on(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.queues = 2});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    fake_store_fail(rig->store, STATUS_IO, 1);
    rig_succeed(rig, "a");
    rig_push(rig, "b");
    rig_push_to(rig, "q1", "other");
    rig_rest(rig);
    assert_null(rig_call(rig, "b"));
    rig_succeed(rig, "other");
    rig_assert_gone(rig, "other");
    rig_free(rig);
}

static void a_pause_that_is_refused_says_so_and_is_written_later(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_rest(rig);
    fake_store_fail(rig->store, STATUS_IO, 2);
    struct rig_request *asked = rig_ask(rig, ENGINE_PAUSE, "careful");
    rig_rest(rig);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->status, STATUS_IO);
    rig_assert_log(rig, "submit:facts");
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    rig_assert_log(rig, "submit:facts");
    rig_pass(rig, 2 * RECORD_RETRY_FIRST_MS);
    rig_assert_log(rig, "submit:facts");
    assert_int_equal(rig->next.ms, MONO_NEVER.ms);
    assert_int_equal(asked->answers, 1);
    rig_restart(rig);
    assert_int_equal(rig_view(rig).state, QUEUE_PAUSED);
    rig_free(rig);
}

static void a_halt_is_written_when_the_store_takes_it(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    fake_store_fail(rig->store, STATUS_FULL, 1);
    rig_fail(rig, "a", 401);
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    assert_int_equal(rig_look(rig, "a")->history_count, 1);
    fake_store_fail(rig->store, STATUS_FULL, 1);
    rig_pass(rig, OPINION_WAIT_MS);
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    rig_restart(rig);
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    rig_free(rig);
}

static void what_can_never_be_stored_is_told_as_why(void **state) {
    (void)state;
    struct rig *rig = rig_in_trouble(STATUS_TOO_LARGE, 4);
    assert_true(rig_view(rig).stuck);
    assert_non_null(strstr(rig_view(rig).why, "what was decided cannot be stored"));
    rig_clear_log(rig);
    rig_pass(rig, 60000); /* each in a commit of its own from now on */
    rig_assert_log(rig, "submit:forget(a) submit:forget(b)");
    rig_pass(rig, 60000);
    rig_assert_gone(rig, "a");
    rig_assert_gone(rig, "b");
    assert_false(rig_view(rig).stuck);
    assert_string_equal(rig_view(rig).why, "");
    rig_free(rig);
}

/* ---- another node owns the queue ---- */

static void a_fenced_commit_drops_its_queue_without_acknowledging(void **state) {
    (void)state;
    struct rig *rig = rig_in_trouble(STATUS_FENCED, SIZE_MAX);
    for (int i = 0; i < 3; i++)
        rig_pass(rig, RECORD_RETRY_LAST_MS);
    rig_assert_log(rig, ""); /* neither settled nor submitted again, and c is not handed over */
    assert_int_equal(rig->call_count, 2);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_free(rig);
}

static void what_shared_a_commit_with_a_fenced_queue_is_submitted_again(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.queues = 2, .deferred = true});
    rig_open(rig);
    rig_push(rig, "a");
    rig_push_to(rig, "q1", "b");
    rig_rest(rig);
    rig_answer(rig, "a", (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1});
    rig_answer(rig, "b", (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1});
    rig_rest(rig);
    rig_clear_log(rig);
    fake_store_fail(rig->store, STATUS_FENCED, 1); /* the first op's queue: q */
    rig_store(rig);
    rig_assert_log(rig, "submit:forget(b)");
    rig_store(rig);
    rig_assert_log(rig, "settle(b)");
    rig_assert_gone(rig, "b");
    assert_non_null(rig_look(rig, "a"));
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_refused_is_submitted_again_and_settled_once),
        cmocka_unit_test(a_queue_in_trouble_receives_nothing_however_long_it_lasts),
        cmocka_unit_test(the_pauses_between_tries_grow_to_their_longest),
        cmocka_unit_test(the_next_trouble_is_tried_again_soon),
        cmocka_unit_test(a_decision_stays_as_it_was_made),
        cmocka_unit_test(other_queues_go_on),
        cmocka_unit_test(a_pause_that_is_refused_says_so_and_is_written_later),
        cmocka_unit_test(a_halt_is_written_when_the_store_takes_it),
        cmocka_unit_test(what_can_never_be_stored_is_told_as_why),
        cmocka_unit_test(a_fenced_commit_drops_its_queue_without_acknowledging),
        cmocka_unit_test(what_shared_a_commit_with_a_fenced_queue_is_submitted_again),
    };
    return cmocka_run_group_tests_name("trouble", tests, NULL, NULL);
}
