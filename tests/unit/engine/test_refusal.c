/* A refused message and the second opinion before its queue halts (SEMANTICS 4.7). */
#include "lease_rig.h"
#include "rig_groups.h"

#include <stdio.h>
#include <unistd.h>

static char attempt_log_path[64];

static struct rig *rig_one_at_a_time(void) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 1;
    rig_open(rig);
    return rig;
}

static void push_all(struct rig *rig, const char *ids) {
    for (char id[] = "?"; *ids; ids++) {
        id[0] = *ids;
        rig_push(rig, id);
    }
    rig_rest(rig);
}

static void resume(struct rig *rig) {
    rig_ask(rig, ENGINE_RESUME, NULL);
    rig_rest(rig);
}

static bool is_halted(struct rig *rig) {
    return rig_view(rig).state == QUEUE_HALTED;
}

/* The only call under way is of this message. */
static void assert_only(struct rig *rig, const char *id) {
    assert_int_equal(rig_open_calls(rig), 1);
    assert_non_null(rig_call(rig, id));
}

static void one_message_that_is_always_refused_is_dead_lettered(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "abc");
    rig_fail(rig, "a", 403);
    assert_true(rig_look(rig, "a")->refused);
    assert_int_equal(rig_look(rig, "a")->attempts, 0);
    assert_true(rig_view(rig).checking);
    assert_only(rig, "c"); /* from the far end */
    rig_succeed(rig, "c");
    assert_only(rig, "a"); /* once more, alone */
    rig_fail(rig, "a", 403);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->cause, CAUSE_TERMINAL);
    assert_true(bytes_is(letter->category, "auth") && bytes_is(letter->reason, "auth"));
    assert_int_equal(letter->attempts, 1);
    assert_int_equal(letter->history_count, 2);
    assert_false(letter->history[0].counted);
    assert_true(letter->history[1].counted);
    assert_false(letter->refused);
    assert_only(rig, "b");
    rig_succeed(rig, "b");
    assert_false(is_halted(rig));
    rig_free(rig);
}

static void three_others_that_are_refused_halt_the_queue_without_a_death(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "abcde");
    rig_fail(rig, "a", 401);
    rig_fail(rig, "e", 401);
    assert_only(rig, "d");
    rig_fail(rig, "d", 401);
    assert_false(is_halted(rig));
    rig_fail(rig, "c", 401);
    assert_true(is_halted(rig));
    assert_string_equal(rig_view(rig).why, "auth: message a: HTTP 401 it said no");
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig->call_count, 4);
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 0);
    for (char id[] = "a"; id[0] <= 'e'; id[0]++)
        assert_int_equal(rig_state(rig, id), STATE_QUEUED);
    rig_free(rig);
}

static void calls_that_began_before_the_refusal_prove_nothing(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 3;
    rig_open(rig);
    push_all(rig, "abcd");
    rig_fail(rig, "a", 401);
    assert_non_null(rig_call(rig, "d"));
    rig_succeed(rig, "b");
    assert_null(rig_call(rig, "a"));
    rig_fail(rig, "c", 401);
    rig_succeed(rig, "d");
    assert_only(rig, "a");
    rig_succeed(rig, "a");
    rig_assert_gone(rig, "a");
    assert_only(rig, "c"); /* a's success began after c's refusal */
    rig_succeed(rig, "c");
    assert_int_equal(rig_open_calls(rig), 0);
    assert_false(is_halted(rig));
    rig_free(rig);
}

static void each_refused_message_has_a_proof_of_its_own(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 2;
    rig_open(rig);
    push_all(rig, "abc");
    rig_fail(rig, "a", 403);
    assert_non_null(rig_call(rig, "c"));
    rig_fail(rig, "b", 403); /* c began before that */
    rig_succeed(rig, "c");
    assert_only(rig, "a");
    push_all(rig, "d");
    rig_fail(rig, "a", 403);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_only(rig, "d");
    rig_succeed(rig, "d");
    assert_only(rig, "b");
    rig_fail(rig, "b", 403);
    assert_int_equal(rig_state(rig, "b"), STATE_PENDING_REVIEW);
    assert_false(is_halted(rig));
    rig_free(rig);
}

static void answers_of_an_outage_prove_nothing(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "abcde");
    rig_fail(rig, "a", 403);
    rig_fail(rig, "e", 503);
    rig_fail(rig, "d", 503);
    rig_fail(rig, "c", 503);
    assert_false(rig_view(rig).checking);
    assert_only(rig, "b"); /* the queue goes on */
    rig_succeed(rig, "b");
    assert_only(rig, "a");
    rig_fail(rig, "a", 403);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_false(is_halted(rig));
    rig_free(rig);
}

static void the_refused_message_that_fails_otherwise_is_retried(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "ab");
    rig_fail(rig, "a", 403);
    rig_succeed(rig, "b");
    rig_fail(rig, "a", 503);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_RETRY);
    assert_false(rig_look(rig, "a")->refused);
    rig_pass(rig, 1000);
    rig_succeed(rig, "a");
    rig_assert_gone(rig, "a");
    rig_free(rig);
}

static void another_key_is_asked_first(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    rig_push_message(rig, "a", "k", NULL);
    rig_push_message(rig, "b", "other", NULL);
    rig_push_message(rig, "c", "k", NULL);
    rig_push_message(rig, "d", "k", NULL);
    rig_rest(rig);
    rig_fail(rig, "a", 403);
    assert_only(rig, "b");
    rig_succeed(rig, "b");
    rig_fail(rig, "a", 403);
    assert_only(rig, "c"); /* those that were not asked keep their order */
    rig_succeed(rig, "c");
    assert_only(rig, "d");
    rig_free(rig);
}

static void a_message_that_comes_in_time_is_asked(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "a");
    rig_fail(rig, "a", 403);
    rig_pass(rig, OPINION_WAIT_MS - 1);
    assert_false(is_halted(rig));
    push_all(rig, "b");
    assert_only(rig, "b");
    rig_pass(rig, 60000); /* however long it takes */
    assert_false(is_halted(rig));
    rig_succeed(rig, "b");
    assert_only(rig, "a");
    rig_free(rig);
}

static void with_no_other_message_the_queue_halts(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "a");
    rig_fail(rig, "a", 403);
    rig_pass(rig, OPINION_WAIT_MS);
    assert_true(is_halted(rig));
    resume(rig);
    rig_fail(rig, "a", 403);
    rig_pass(rig, OPINION_WAIT_MS);
    assert_true(is_halted(rig));
    assert_int_equal(rig->call_count, 2);
    rig_free(rig);
}

static void resume_of_a_running_queue_leaves_a_check_alone(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "abc");
    rig_fail(rig, "a", 403);
    rig_succeed(rig, "c");
    assert_only(rig, "a");
    resume(rig);
    rig_fail(rig, "a", 403);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_only(rig, "b");
    rig_succeed(rig, "b");
    assert_false(is_halted(rig));
    rig_free(rig);
}

static void after_resume_refused_messages_are_handed_over_last(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "abcd");
    rig_fail(rig, "a", 401);
    rig_fail(rig, "d", 401);
    rig_fail(rig, "c", 401);
    rig_fail(rig, "b", 401);
    assert_true(is_halted(rig));
    push_all(rig, "e");
    resume(rig);
    assert_only(rig, "e");
    rig_fail(rig, "e", 503);
    assert_int_equal(rig_open_calls(rig), 0); /* e may still succeed */
    rig_pass(rig, 1000);
    assert_only(rig, "e");
    rig_succeed(rig, "e");
    rig_fail(rig, "a", 401); /* judged as above */
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    rig_succeed(rig, "d");
    rig_succeed(rig, "c");
    rig_succeed(rig, "b");
    assert_false(is_halted(rig));
    rig_free(rig);
}

static void three_deaths_within_ten_minutes_halt_the_queue(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    for (int i = 1; i <= 3; i++) {
        char bad[RIG_ID_SIZE], good[RIG_ID_SIZE];
        snprintf(bad, sizeof bad, "bad%d", i);
        snprintf(good, sizeof good, "good%d", i);
        rig_push(rig, bad);
        rig_push(rig, good);
        rig_rest(rig);
        assert_false(is_halted(rig));
        rig_fail(rig, bad, 403);
        rig_succeed(rig, good);
        rig_fail(rig, bad, 403);
        assert_int_equal(rig_state(rig, bad), STATE_PENDING_REVIEW);
        rig_pass(rig, 60000);
    }
    assert_true(is_halted(rig));
    assert_string_equal(rig_view(rig).why, "3 messages were refused and dead-lettered within 10 "
                                           "minutes, the last: auth: message bad3: HTTP 403 it "
                                           "said no");
    rig_free(rig);
}

/* Refused, confirmed by the success of another message, refused again. */
static void die_of_refusals(struct rig *rig, const char *bad, const char *good) {
    rig_push(rig, bad);
    rig_push(rig, good);
    rig_rest(rig);
    rig_fail(rig, bad, 403);
    rig_succeed(rig, good);
    rig_fail(rig, bad, 403);
    assert_int_equal(rig_state(rig, bad), STATE_PENDING_REVIEW);
}

static struct rig *rig_with_recorder(void) {
    struct rig *rig = rig_new((struct rig_options){.attempt_log_path = attempt_log_path});
    rig->concurrency = 1;
    rig_open(rig);
    return rig;
}

static void deaths_before_a_restart_are_counted(void **state) {
    (void)state;
    struct rig *rig = rig_with_recorder();
    die_of_refusals(rig, "bad1", "good1");
    rig_die(rig);
    rig_pass(rig, 60000);
    die_of_refusals(rig, "bad2", "good2");
    rig_die(rig);
    rig_pass(rig, 60000);
    assert_false(is_halted(rig));
    die_of_refusals(rig, "bad3", "good3");
    assert_true(is_halted(rig));
    resume(rig);
    rig_die(rig);
    rig_rest(rig);
    die_of_refusals(rig, "bad4", "good4"); /* what was resumed is not counted again */
    assert_false(is_halted(rig));
    rig_free(rig);
}

static void deaths_long_before_a_restart_are_not_counted(void **state) {
    (void)state;
    struct rig *rig = rig_with_recorder();
    die_of_refusals(rig, "bad1", "good1");
    rig_pass(rig, 60000);
    die_of_refusals(rig, "bad2", "good2");
    rig_pass(rig, OPINION_DEATHS_MS - 60000);
    rig_die(rig);
    die_of_refusals(rig, "bad3", "good3");
    assert_false(is_halted(rig));
    rig_free(rig);
}

static void a_halt_of_the_handler_itself_stops_the_queue_at_once(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "ab");
    struct outcome outcome = rig_outcome(KIND_STATUS, 403);
    outcome.has_verdict = true;
    outcome.verdict = VERDICT_HALT;
    rig_answer(rig, "a", outcome);
    rig_rest(rig);
    assert_true(is_halted(rig));
    assert_int_equal(rig->call_count, 1);
    rig_free(rig);
}

static void a_fallback_that_is_refused_does_not_halt(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.handlers = 2});
    struct rule rule = {.when = {.statuses = {{500, 500}}, .status_count = 1},
                        .verdict = VERDICT_FALLBACK,
                        .name = BYTES("q.rules[0]")};
    rig->policy.rules = &rule;
    rig->policy.rule_count = 1;
    rig_open(rig);
    push_all(rig, "a");
    rig_fail(rig, "a", 500);
    assert_int_equal(rig_call(rig, "a")->fallback, 1);
    rig_fail(rig, "a", 401);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_RETRY);
    assert_int_equal(rig_look(rig, "a")->attempts, 1);
    assert_false(rig_view(rig).checking);
    rig_free(rig);
}

static void a_restart_in_the_middle_of_a_check_keeps_the_refused_message_last(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.attempt_log_path = attempt_log_path});
    rig->concurrency = 1;
    rig_open(rig);
    push_all(rig, "abc");
    rig_fail(rig, "a", 403);
    assert_only(rig, "c");
    rig_die(rig);
    rig_rest(rig);
    assert_int_equal(rig_view(rig).state, QUEUE_RUNNING);
    assert_null(rig_call(rig, "a"));
    assert_only(rig, "b");
    rig_succeed(rig, "b");
    rig_fail(rig, "a", 403); /* b's success began after the restart */
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    rig_succeed(rig, "c");
    rig_free(rig);
}

static void a_refused_message_that_was_buried_is_not_handed_over_again(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "ab");
    rig_fail(rig, "a", 403);
    rig_look(rig, "a");
    struct store_op op = {.kind = STORE_FORGET,
                          .queue = rig->store->vtable->queue_number(rig->store, BYTES("q")),
                          .seq = rig->looked_at->seq};
    rig_commit(rig, &op);
    rig_succeed(rig, "b");
    assert_int_equal(rig_open_calls(rig), 0);
    push_all(rig, "c");
    assert_only(rig, "c");
    rig_free(rig);
}

static void an_open_breaker_keeps_to_its_probes_and_they_are_asked(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 8;
    rig_open(rig);
    push_all(rig, "a");
    rig_break_down(rig);
    rig_fail(rig, "a", 403);
    rig_pass(rig, 900);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_false(is_halted(rig));
    rig_pass(rig, 100);
    assert_int_equal(rig_open_calls(rig), 1);
    assert_null(rig_call(rig, "a"));
    rig_succeed_all(rig);
    for (int rounds = 0; rounds < 4; rounds++)
        rig_succeed_all(rig);
    rig_assert_gone(rig, "a"); /* it was a probe when there was no other */
    rig_assert_gone(rig, "f5");
    assert_false(is_halted(rig));
    rig_free(rig);
}

/* ---- batches ---- */

static void a_refused_batch_is_not_bisected(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.batch = 4});
    rig->concurrency = 4;
    rig_open(rig);
    push_all(rig, "abcde");
    assert_int_equal(rig_groups_size(rig, 0), 4);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 403));
    assert_int_equal(rig_groups_open(rig), 1);
    assert_int_equal(rig_groups_size(rig, 0), 1);
    assert_true(rig_groups_has(rig, 0, "e"));
    rig_groups_end_all(rig, "b", rig_outcome(KIND_STATUS, 403));
    assert_int_equal(rig_state(rig, "b"), STATE_PENDING_REVIEW);
    rig_assert_gone(rig, "a");
    rig_assert_gone(rig, "c");
    rig_assert_gone(rig, "d");
    assert_false(is_halted(rig));
    rig_free(rig);
}

/* ---- leases ---- */

static void refuse_lease(struct rig *rig, const char *lease) {
    struct answered answer;
    lease_rig_release(rig, &answer, RELEASE_FAIL, lease);
    answer.release.outcome = rig_outcome(KIND_REPORTED, 403);
    rig_rest(rig);
    assert_int_equal(answer.release.status, STATUS_OK);
}

static void workers_are_given_one_message_at_a_time_while_a_refusal_is_checked(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched first, second, third, rest;
    push_all(rig, "abc");
    lease_rig_fetch(rig, &first, 1);
    assert_string_equal(first.ids[0], "a");
    refuse_lease(rig, first.leases[0]);
    lease_rig_fetch(rig, &second, 10);
    assert_int_equal(second.count, 1);
    assert_string_equal(second.ids[0], "c");
    lease_rig_ack(rig, second.leases[0]);
    lease_rig_fetch(rig, &third, 10);
    assert_int_equal(third.count, 1);
    assert_string_equal(third.ids[0], "a");
    refuse_lease(rig, third.leases[0]);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    lease_rig_fetch(rig, &rest, 10);
    assert_string_equal(rest.ids[0], "b");
    rig_free(rig);
}

static void without_a_worker_the_queue_halts(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched first;
    push_all(rig, "ab");
    lease_rig_fetch(rig, &first, 1);
    refuse_lease(rig, first.leases[0]);
    rig_pass(rig, OPINION_WAIT_MS);
    assert_true(is_halted(rig));
    rig_free(rig);
}

/* ---- ordered queues and letters ---- */

static void a_refused_head_keeps_its_key_in_order(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->rules.order = ORDER_KEY;
    rig->rules.blocked_limit = 1000;
    rig->concurrency = 1;
    rig_open(rig);
    rig_push_message(rig, "a1", "a", NULL);
    rig_push_message(rig, "a2", "a", NULL);
    rig_push_message(rig, "b1", "b", NULL);
    rig_rest(rig);
    rig_fail(rig, "a1", 403);
    assert_only(rig, "b1");
    rig_succeed(rig, "b1");
    assert_only(rig, "a1");
    rig_fail(rig, "a1", 403);
    assert_int_equal(rig_open_calls(rig), 0); /* the key is closed */
    assert_int_equal(rig_state(rig, "a2"), STATE_QUEUED);
    rig_free(rig);
}

static void a_refused_letter_stays_with_its_replay_and_is_asked_last(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "l");
    rig_fail(rig, "l", 422);
    rig_replay(rig, "l");
    rig_rest(rig);
    rig_fail(rig, "l", 403);
    assert_int_equal(rig_state(rig, "l"), STATE_REPLAYING);
    push_all(rig, "a");
    rig_succeed(rig, "a");
    assert_only(rig, "l");
    rig_fail(rig, "l", 403);
    assert_int_equal(rig_state(rig, "l"), STATE_PENDING_REVIEW);
    rig_replay(rig, "l");
    rig_push(rig, "b");
    rig_push(rig, "c");
    rig_rest(rig);
    assert_only(rig, "l"); /* it is due, and due ones come first */
    rig_succeed(rig, "l");
    rig_fail(rig, "b", 403);
    assert_only(rig, "c");
    rig_free(rig);
}

static void letters_are_asked_where_nothing_else_waits(void **state) {
    (void)state;
    struct rig *rig = rig_one_at_a_time();
    push_all(rig, "l");
    rig_fail(rig, "l", 422);
    push_all(rig, "ab");
    rig_replay(rig, "l");
    rig_fail(rig, "a", 403);
    assert_only(rig, "b");
    rig_fail(rig, "b", 403);
    assert_only(rig, "l");
    rig_succeed(rig, "l");
    assert_only(rig, "a");
    rig_free(rig);
}

int main(void) {
    snprintf(attempt_log_path, sizeof attempt_log_path, "/tmp/impound-refusal-%d", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_message_that_is_always_refused_is_dead_lettered),
        cmocka_unit_test(three_others_that_are_refused_halt_the_queue_without_a_death),
        cmocka_unit_test(calls_that_began_before_the_refusal_prove_nothing),
        cmocka_unit_test(each_refused_message_has_a_proof_of_its_own),
        cmocka_unit_test(answers_of_an_outage_prove_nothing),
        cmocka_unit_test(the_refused_message_that_fails_otherwise_is_retried),
        cmocka_unit_test(another_key_is_asked_first),
        cmocka_unit_test(a_message_that_comes_in_time_is_asked),
        cmocka_unit_test(with_no_other_message_the_queue_halts),
        cmocka_unit_test(resume_of_a_running_queue_leaves_a_check_alone),
        cmocka_unit_test(after_resume_refused_messages_are_handed_over_last),
        cmocka_unit_test(three_deaths_within_ten_minutes_halt_the_queue),
        cmocka_unit_test(deaths_before_a_restart_are_counted),
        cmocka_unit_test(deaths_long_before_a_restart_are_not_counted),
        cmocka_unit_test(a_halt_of_the_handler_itself_stops_the_queue_at_once),
        cmocka_unit_test(a_fallback_that_is_refused_does_not_halt),
        cmocka_unit_test(a_restart_in_the_middle_of_a_check_keeps_the_refused_message_last),
        cmocka_unit_test(a_refused_message_that_was_buried_is_not_handed_over_again),
        cmocka_unit_test(an_open_breaker_keeps_to_its_probes_and_they_are_asked),
        cmocka_unit_test(a_refused_batch_is_not_bisected),
        cmocka_unit_test(workers_are_given_one_message_at_a_time_while_a_refusal_is_checked),
        cmocka_unit_test(without_a_worker_the_queue_halts),
        cmocka_unit_test(a_refused_head_keeps_its_key_in_order),
        cmocka_unit_test(a_refused_letter_stays_with_its_replay_and_is_asked_last),
        cmocka_unit_test(letters_are_asked_where_nothing_else_waits),
    };
    int failed = cmocka_run_group_tests_name("refusal", tests, NULL, NULL);
    unlink(attempt_log_path);
    return failed;
}
