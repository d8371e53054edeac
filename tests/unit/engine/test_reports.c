/* Failures that others had, told to us: judged like our own attempts, answered when durable. */
#include "rig.h"

#include "store/fake_store.h"

static struct rig *rig_plain(void) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    return rig;
}

static struct rig_request *report(struct rig *rig, const char *id, uint32_t attempts, int status) {
    struct rig_request *asked =
        rig_report(rig, id, "the body", attempts, rig_outcome(KIND_REPORTED, status));
    rig_rest(rig);
    return asked;
}

static void assert_answered(const struct rig_request *asked, enum status status) {
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->status, status);
}

static void a_report_continues_the_count(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    struct rig_request *asked = report(rig, "r", 2, 503);
    assert_answered(asked, STATUS_OK);
    assert_int_equal(asked->request.verdict, VERDICT_RETRY);
    const struct envelope *told = &asked->request.held_take->envelope;
    assert_int_equal(told->state, STATE_PENDING_RETRY);
    assert_int_equal(told->attempts, 2);
    assert_int_equal(told->next_attempt_at.ms, rig->now.wall.ms + 2000);
    assert_bytes(told->reason, "upstream_busy");
    assert_int_equal(rig_look(rig, "r")->attempts, 2);
    assert_int_equal(rig_look(rig, "r")->history[0].attempt, 2);
    rig_pass(rig, 1999);
    assert_null(rig_call(rig, "r"));
    rig_pass(rig, 1);
    assert_int_equal(rig_call(rig, "r")->attempt, 3);
    assert_bytes(rig_call(rig, "r")->call->body, "the body");
    rig_succeed(rig, "r");
    rig_assert_gone(rig, "r");
    rig_free(rig);
}

static void a_report_is_answered_when_it_is_durable(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig_open(rig);
    struct rig_request *asked = report(rig, "r", 1, 400);
    assert_int_equal(asked->answers, 0);
    rig_assert_gone(rig, "r");
    rig_store(rig);
    assert_answered(asked, STATUS_OK);
    assert_non_null(rig_look(rig, "r"));
    rig_free(rig);
}

static void a_terminal_report_is_a_letter(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    struct rig_request *asked = report(rig, "r", 1, 422);
    assert_answered(asked, STATUS_OK);
    assert_int_equal(asked->request.verdict, VERDICT_DLQ);
    assert_int_equal(asked->request.held_take->envelope.letter_id.len, 36);
    const struct envelope *letter = rig_look(rig, "r");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->cause, CAUSE_TERMINAL);
    assert_int_equal(letter->attempts, 1);
    assert_bytes(rig->looked_at->body, "the body");
    assert_true(rig_saw_event(rig, "\"message_id\":\"r\""));
    rig_free(rig);
}

static void a_reporter_that_decides_itself_is_the_cause(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    struct outcome outcome = rig_outcome(KIND_REPORTED, 0);
    outcome.has_verdict = true;
    outcome.verdict = VERDICT_DLQ;
    rig_report(rig, "r", "x", 1, outcome);
    rig_rest(rig);
    assert_int_equal(rig_look(rig, "r")->cause, CAUSE_REPORTED);
    rig_free(rig);
}

static void the_last_attempt_may_have_been_made_elsewhere(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    report(rig, "r", 5, 503);
    assert_int_equal(rig_look(rig, "r")->cause, CAUSE_EXHAUSTED);
    assert_int_equal(rig_look(rig, "r")->attempts, 5);
    struct rig_request *own = rig_report(rig, "own", "x", 2, rig_outcome(KIND_REPORTED, 503));
    own->request.held_take->envelope.max_attempts = 2;
    rig_rest(rig);
    assert_int_equal(rig_look(rig, "own")->cause, CAUSE_EXHAUSTED);
    rig_free(rig);
}

static void a_report_may_halt_the_queue(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    struct rig_request *asked = report(rig, "r", 1, 401);
    assert_answered(asked, STATUS_OK);
    assert_int_equal(asked->request.verdict, VERDICT_HALT);
    rig_pass(rig, OPINION_WAIT_MS);
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    const struct envelope *envelope = rig_look(rig, "r");
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_int_equal(envelope->attempts, 0);
    assert_int_equal(envelope->first_failure_at.ms, WALL_NEVER.ms);
    rig_free(rig);
}

static void the_same_report_twice_is_one_message(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    struct rig_request *first = report(rig, "r", 1, 400);
    rig_pass(rig, 1000);
    struct rig_request *again = report(rig, "r", 1, 400);
    assert_answered(again, STATUS_OK);
    assert_true(bytes_eq(again->request.held_take->envelope.letter_id,
                         first->request.held_take->envelope.letter_id));
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 1);
    rig_free(rig);
}

static void the_same_id_with_another_body_is_a_conflict_for_itself_alone(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    rig_push(rig, "good");
    rig_rest(rig);
    report(rig, "r", 1, 503);
    rig_answer(rig, "good", (struct outcome){.ending = ENDING_OK});
    struct rig_request *other = rig_report(rig, "r", "other", 1, rig_outcome(KIND_REPORTED, 400));
    rig_rest(rig);
    assert_answered(other, STATUS_CONFLICT);
    assert_int_equal(rig_state(rig, "r"), STATE_PENDING_RETRY);
    rig_assert_gone(rig, "good");
    assert_int_equal(rig_view(rig).lag, 0);
    rig_free(rig);
}

static void a_full_dlq_takes_no_report(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->dlqs[0].cap = 1;
    rig_open(rig);
    report(rig, "first", 1, 400);
    struct rig_request *asked = report(rig, "r", 1, 400);
    assert_answered(asked, STATUS_BUSY);
    assert_null(asked->request.held_take);
    rig_assert_gone(rig, "r");
    rig_free(rig);
}

static void a_report_that_the_store_refuses_is_the_reporters_again(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    rig_rest(rig);
    fake_store_fail(rig->store, STATUS_FULL, 1);
    struct rig_request *asked = report(rig, "r", 1, 503);
    assert_answered(asked, STATUS_FULL);
    rig_pass(rig, 60000);
    assert_int_equal(asked->answers, 1);
    rig_assert_gone(rig, "r");
    assert_answered(report(rig, "r", 1, 503), STATUS_OK);
    rig_free(rig);
}

static struct rig *rig_spilling(void) {
    struct rig *rig = rig_new((struct rig_options){.spill = true});
    rig->dlqs[0].cap = 1;
    rig->dlqs[0].on_full = ON_FULL_SPILL;
    rig_open(rig);
    report(rig, "first", 1, 400);
    rig_restart(rig);
    rig_clear_log(rig);
    return rig;
}

static void a_report_for_a_dlq_that_spills_goes_to_the_archive(void **state) {
    (void)state;
    struct rig *rig = rig_spilling();
    struct rig_request *asked = report(rig, "r", 1, 400);
    assert_answered(asked, STATUS_OK);
    assert_int_equal(asked->request.held_take->envelope.letter_id.len, 36);
    rig_assert_log(rig, "append sync submit:forget()");
    struct bytes line = buf_view(&rig->spilled);
    assert_true(bytes_find(line, asked->request.held_take->envelope.letter_id) < line.len);
    rig_free(rig);
}

static void a_report_that_the_archive_refuses_is_kept_until_it_does_not(void **state) {
    (void)state;
    struct rig *rig = rig_spilling();
    rig->spill_syncs_fail = 1;
    struct rig_request *asked = report(rig, "r", 1, 400);
    assert_int_equal(asked->answers, 0);
    fake_store_fail(rig->store, STATUS_IO, 1);
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    assert_answered(asked, STATUS_IO);
    rig_push(rig, "next"); /* the queue goes on */
    rig_rest(rig);
    assert_non_null(rig_call(rig, "next"));
    rig_free(rig);
}

static void reports_say_nothing_of_our_own_downstream(void **state) {
    (void)state;
    static const char *const ids[] = {"r1", "r2", "r3", "r4", "r5", "r6"};
    struct rig *rig = rig_plain();
    for (size_t i = 0; i < 6; i++)
        report(rig, ids[i], 1, 503);
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    assert_int_equal(rig_view(rig).results[RESULT_RETRY], 0);
    rig_free(rig);
}

static void an_outage_of_ours_does_not_excuse_a_reported_attempt(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 5;
    rig_open(rig);
    rig_break_down(rig);
    report(rig, "r", 3, 503);
    assert_int_equal(rig_look(rig, "r")->attempts, 3);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_continues_the_count),
        cmocka_unit_test(a_report_is_answered_when_it_is_durable),
        cmocka_unit_test(a_terminal_report_is_a_letter),
        cmocka_unit_test(a_reporter_that_decides_itself_is_the_cause),
        cmocka_unit_test(the_last_attempt_may_have_been_made_elsewhere),
        cmocka_unit_test(a_report_may_halt_the_queue),
        cmocka_unit_test(the_same_report_twice_is_one_message),
        cmocka_unit_test(the_same_id_with_another_body_is_a_conflict_for_itself_alone),
        cmocka_unit_test(a_full_dlq_takes_no_report),
        cmocka_unit_test(a_report_that_the_store_refuses_is_the_reporters_again),
        cmocka_unit_test(a_report_for_a_dlq_that_spills_goes_to_the_archive),
        cmocka_unit_test(a_report_that_the_archive_refuses_is_kept_until_it_does_not),
        cmocka_unit_test(reports_say_nothing_of_our_own_downstream),
        cmocka_unit_test(an_outage_of_ours_does_not_excuse_a_reported_attempt),
    };
    return cmocka_run_group_tests_name("reports", tests, NULL, NULL);
}
