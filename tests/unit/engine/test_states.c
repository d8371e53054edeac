/* Running, paused, halted: who says so, what it holds up, and what of it outlives us. */
#include "rig.h"

static struct rig *rig_plain(void) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    return rig;
}

static void halt(struct rig *rig, const char *id) {
    rig_push(rig, id);
    rig_rest(rig);
    rig_fail(rig, id, 401);
    rig_pass(rig, OPINION_WAIT_MS); /* there is no other message to ask */
}

static void a_halt_takes_the_message_back_uncounted(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    halt(rig, "a");
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->state, STATE_QUEUED);
    assert_int_equal(envelope->attempts, 0);
    assert_int_equal(envelope->history_count, 1);
    assert_false(envelope->history[0].counted);
    assert_int_equal(envelope->history[0].verdict, VERDICT_HALT);
    assert_int_equal(rig_view(rig).results[RESULT_HALT], 1);
    rig_free(rig);
}

static void a_halted_queue_says_why_and_hands_nothing_over(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    rig_push(rig, "delayed");
    rig_rest(rig);
    struct outcome later = rig_outcome(KIND_STATUS, 503);
    later.retry_after_ms = 60000;
    rig_answer(rig, "delayed", later);
    rig_rest(rig);
    halt(rig, "a");
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    assert_string_equal(rig_view(rig).why, "auth: message a: HTTP 401 it said no");
    assert_true(rig_saw_event(rig, "\"state\":\"halted\""));
    rig_push(rig, "b");
    rig_pass(rig, 3600000);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_free(rig);
}

static void the_status_stands_once_in_why(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    struct outcome outcome = rig_outcome(KIND_STATUS, 401);
    outcome.error_message = BYTES("HTTP 401 Unauthorized");
    rig_push(rig, "a");
    rig_rest(rig);
    rig_answer(rig, "a", outcome);
    rig_pass(rig, OPINION_WAIT_MS);
    assert_string_equal(rig_view(rig).why, "auth: message a: HTTP 401 Unauthorized");
    rig_free(rig);
}

static void a_message_that_was_attempted_before_keeps_its_count_through_a_halt(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    struct wall failed_at = rig->now.wall;
    rig_pass(rig, 1000);
    rig_fail(rig, "a", 403);
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_int_equal(envelope->attempts, 1);
    assert_int_equal(envelope->first_failure_at.ms, failed_at.ms);
    assert_int_equal(envelope->history_count, 2);
    rig_free(rig);
}

static void a_halt_survives_a_restart(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    halt(rig, "a");
    rig_restart(rig);
    rig_rest(rig);
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    assert_string_equal(rig_view(rig).why, "auth: message a: HTTP 401 it said no");
    assert_int_equal(rig_open_calls(rig), 0);
    rig_free(rig);
}

static void a_halt_stops_its_own_queue_alone(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.queues = 2});
    rig_open(rig);
    halt(rig, "a");
    rig_push_to(rig, "q1", "b");
    rig_rest(rig);
    assert_non_null(rig_call(rig, "b"));
    rig_free(rig);
}

static void resume_clears_a_halt_for_good(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    halt(rig, "a");
    struct rig_request *asked = rig_ask(rig, ENGINE_RESUME, NULL);
    rig_rest(rig);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->status, STATUS_OK);
    assert_int_equal(rig_view(rig).state, QUEUE_RUNNING);
    assert_string_equal(rig_view(rig).why, "");
    assert_int_equal(rig_call(rig, "a")->attempt, 1);
    rig_succeed(rig, "a");
    rig_restart(rig);
    assert_int_equal(rig_view(rig).state, QUEUE_RUNNING);
    rig_free(rig);
}

static void a_pause_is_answered_when_it_is_durable(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig_open(rig);
    struct rig_request *asked = rig_ask(rig, ENGINE_PAUSE, "moving house");
    rig_rest(rig);
    assert_int_equal(asked->answers, 0);
    rig_push(rig, "a"); /* makes everything durable */
    rig_rest(rig);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->status, STATUS_OK);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_restart(rig);
    rig_rest(rig);
    assert_int_equal(rig_view(rig).state, QUEUE_PAUSED);
    assert_string_equal(rig_view(rig).why, "moving house");
    asked = rig_ask(rig, ENGINE_RESUME, NULL);
    rig_rest(rig);
    assert_int_equal(asked->answers, 0);
    rig_store(rig);
    assert_int_equal(asked->answers, 1);
    assert_non_null(rig_call(rig, "a"));
    rig_free(rig);
}

static void what_is_under_way_ends_during_a_pause(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    rig_push_many(rig, 3);
    rig_rest(rig);
    rig_ask(rig, ENGINE_PAUSE, NULL);
    rig_rest(rig);
    rig_succeed(rig, "m1");
    rig_fail(rig, "m2", 400);
    rig_fail(rig, "m3", 503);
    rig_assert_gone(rig, "m1");
    assert_int_equal(rig_state(rig, "m2"), STATE_PENDING_REVIEW);
    assert_int_equal(rig_state(rig, "m3"), STATE_PENDING_RETRY);
    rig_pass(rig, 60000);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_free(rig);
}

/* Every byte of it takes six in JSON. */
static void a_why_of_control_characters_survives_a_restart(void **state) {
    (void)state;
    char why[201];
    memset(why, 1, sizeof why - 1);
    why[sizeof why - 1] = '\0';
    struct rig *rig = rig_plain();
    rig_ask(rig, ENGINE_PAUSE, why);
    rig_rest(rig);
    rig_restart(rig);
    assert_int_equal(rig_view(rig).state, QUEUE_PAUSED);
    assert_string_equal(rig_view(rig).why, why);
    rig_free(rig);
}

static void the_budgets_peak_survives_a_stop(void **state) {
    (void)state;
    enum { FIRSTS = 70 };
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = FIRSTS;
    rig_open(rig);
    rig_push_many(rig, FIRSTS);
    rig_rest(rig);
    rig_succeed_all(rig);
    engine_hold(rig->engine, 0);
    engine_stop(rig->engine);
    rig_rest(rig);
    rig_restart(rig);
    assert_int_equal(budget_peak(&rig->engine->queues[0]->budget, rig->now.mono), FIRSTS);
    rig_free(rig);
}

/* ---- reload ---- */

static struct rig_request *reload(struct rig *rig, const struct engine_rules *rules) {
    struct rig_request *asked = rig_request(rig, ENGINE_RELOAD);
    asked->request.rules = rules;
    engine_ask(rig->engine, &asked->request);
    rig_rest(rig);
    assert_int_equal(asked->answers, 1);
    return asked;
}

static void a_reload_changes_what_becomes_of_failures(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    rig_push_many(rig, 5);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 4);
    struct policy strict = rig->policy;
    strict.retry.attempts = 1;
    struct engine_rules rules = {
        .policy = &strict, .concurrency = 5, .dlqs = rig->dlqs, .dlq_count = 2};
    assert_int_equal(reload(rig, &rules)->status, STATUS_OK);
    assert_int_equal(rig_open_calls(rig), 5);
    assert_int_equal(rig_view(rig).concurrency, 5);
    rig_fail(rig, "m1", 503);
    assert_int_equal(rig_look(rig, "m1")->cause, CAUSE_EXHAUSTED);
    rig_free(rig);
}

static void a_reload_that_does_not_compile_changes_nothing(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    struct rule broken = {.when = {.message = BYTES("(")}, .name = BYTES("q.rules[0]")};
    struct policy policy = rig->policy;
    policy.rules = &broken;
    policy.rule_count = 1;
    struct engine_rules rules = {
        .policy = &policy, .concurrency = 9, .dlqs = rig->dlqs, .dlq_count = 2};
    struct rig_request *asked = reload(rig, &rules);
    assert_int_equal(asked->status, STATUS_INVALID);
    assert_non_null(strstr(asked->request.err.text, "q.rules[0]"));
    assert_int_equal(rig_view(rig).concurrency, 4);
    rig_free(rig);
}

/* ---- refusals ---- */

static void an_unknown_queue_is_not_found(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    struct rig_request *asked = rig_request(rig, ENGINE_PAUSE);
    asked->request.queue = BYTES("nobody");
    engine_ask(rig->engine, &asked->request);
    struct rig_request *report = rig_report(rig, "r", "x", 1, rig_outcome(KIND_STATUS, 503));
    report->request.queue = BYTES("nobody");
    rig_rest(rig);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->status, STATUS_NOT_FOUND);
    assert_int_equal(report->answers, 1);
    assert_int_equal(report->status, STATUS_NOT_FOUND);
    rig_free(rig);
}

static void a_stopping_engine_refuses_what_is_asked(void **state) {
    (void)state;
    struct rig *rig = rig_plain();
    engine_hold(rig->engine, 1000);
    engine_stop(rig->engine);
    struct rig_request *asked = rig_ask(rig, ENGINE_PAUSE, NULL);
    struct rig_request *report = rig_report(rig, "r", "x", 1, rig_outcome(KIND_STATUS, 503));
    rig_rest(rig);
    assert_int_equal(asked->status, STATUS_BUSY);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(report->status, STATUS_BUSY);
    assert_int_equal(report->answers, 1);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_halt_takes_the_message_back_uncounted),
        cmocka_unit_test(a_halted_queue_says_why_and_hands_nothing_over),
        cmocka_unit_test(the_status_stands_once_in_why),
        cmocka_unit_test(a_message_that_was_attempted_before_keeps_its_count_through_a_halt),
        cmocka_unit_test(a_halt_survives_a_restart),
        cmocka_unit_test(a_halt_stops_its_own_queue_alone),
        cmocka_unit_test(resume_clears_a_halt_for_good),
        cmocka_unit_test(a_pause_is_answered_when_it_is_durable),
        cmocka_unit_test(what_is_under_way_ends_during_a_pause),
        cmocka_unit_test(a_why_of_control_characters_survives_a_restart),
        cmocka_unit_test(the_budgets_peak_survives_a_stop),
        cmocka_unit_test(a_reload_changes_what_becomes_of_failures),
        cmocka_unit_test(a_reload_that_does_not_compile_changes_nothing),
        cmocka_unit_test(an_unknown_queue_is_not_found),
        cmocka_unit_test(a_stopping_engine_refuses_what_is_asked),
    };
    return cmocka_run_group_tests_name("states", tests, NULL, NULL);
}
