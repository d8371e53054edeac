/* Fallbacks with edits: the attempt waits for jq within its attempt, and the body it made is for
 * that one handler. */
#include "rig.h"

/* 500 goes on to the next handler; so does a failed edit where `edit_falls` is asked for. */
static struct rule rules[] = {
    {.when = {.statuses = {{500, 500}}, .status_count = 1},
     .verdict = VERDICT_FALLBACK,
     .category = {"external", 8},
     .reason = {"upstream", 8},
     .name = {"q.rules[0]", 10}},
    {.when = {.kinds = 1u << KIND_EDIT},
     .verdict = VERDICT_FALLBACK,
     .category = {"bug", 3},
     .reason = {"edit", 4},
     .name = {"q.rules[1]", 10}},
};

static struct rig *rig_with_edits(size_t rule_count) {
    struct rig *rig = rig_new((struct rig_options){.handlers = 3, .jq = true});
    rig->policy.rules = rules;
    rig->policy.rule_count = rule_count;
    rig->handler_list[1].edit = BYTES(".model = 2");
    rig->handler_list[2].edit = BYTES(".model = 3");
    rig->concurrency = 1;
    rig_open(rig);
    rig_push(rig, "a");
    rig_push(rig, "b");
    rig_rest(rig);
    return rig;
}

static void the_edited_body_is_seen_by_its_handler_alone(void **state) {
    (void)state;
    struct rig *rig = rig_with_edits(1);
    assert_bytes(rig_call(rig, "a")->call->body, "{}");
    rig_fail(rig, "a", 500);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_bytes(rig->jobs[0]->program, ".model = 2");
    assert_bytes(rig->jobs[0]->input, "{}");
    rig_jq_output(rig, 0, "{\"model\":2}");
    rig_rest(rig);
    assert_bytes(rig_call(rig, "a")->call->body, "{\"model\":2}");
    assert_int_equal(rig_call(rig, "a")->fallback, 1);
    assert_int_equal(rig_call(rig, "a")->attempt, 1);
    rig_fail(rig, "a", 500);
    assert_bytes(rig->jobs[1]->input, "{}"); /* from the message's own, not from the last edit */
    rig_jq_output(rig, 1, "{\"model\":3}");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    assert_int_equal(rig_look(rig, "a")->attempts, 1);
    assert_int_equal(rig_look(rig, "a")->history_count, 1);
    assert_bytes(rig->looked_at->body, "{}");
    rig_free(rig);
}

static void the_next_attempt_begins_with_the_first_handler_and_the_stored_body(void **state) {
    (void)state;
    struct rig *rig = rig_with_edits(1);
    rig_fail(rig, "a", 500);
    rig_jq_output(rig, 0, "[1]");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    rig_succeed(rig, "b");
    rig_pass(rig, 1000);
    assert_int_equal(rig_call(rig, "a")->fallback, 0);
    assert_int_equal(rig_call(rig, "a")->attempt, 2);
    assert_bytes(rig_call(rig, "a")->call->body, "{}");
    rig_free(rig);
}

static void what_is_being_edited_keeps_its_slot(void **state) {
    (void)state;
    struct rig *rig = rig_with_edits(1);
    rig_fail(rig, "a", 500);
    rig_pass(rig, 60000);
    assert_null(rig_call(rig, "b"));
    rig_jq_output(rig, 0, "{}");
    rig_rest(rig);
    rig_succeed(rig, "a");
    rig_assert_gone(rig, "a");
    assert_non_null(rig_call(rig, "b"));
    assert_int_equal(rig_view(rig).fallbacks, 1);
    rig_free(rig);
}

static void an_edit_that_fails_is_that_handlers_outcome_and_dead_at_once(void **state) {
    (void)state;
    struct rig *rig = rig_with_edits(1);
    rig_fail(rig, "a", 500);
    rig_jq_answer(rig, 0, STATUS_INVALID, false);
    rig_rest(rig);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->cause, CAUSE_TERMINAL);
    assert_int_equal(letter->kind, KIND_EDIT);
    assert_bytes(letter->error_type, "edit");
    assert_bytes(letter->error_message, "jq: no");
    assert_bytes(letter->category, "bug");
    assert_bytes(letter->reason, "edit_failed");
    assert_int_equal(letter->attempts, 1);
    assert_non_null(rig_call(rig, "b"));
    rig_free(rig);
}

static void an_edit_that_gives_nothing_sends_nothing(void **state) {
    (void)state;
    struct rig *rig = rig_with_edits(1);
    rig_fail(rig, "a", 500);
    rig_jq_output(rig, 0, "null");
    rig_rest(rig);
    assert_bytes(rig_look(rig, "a")->reason, "edit_failed");
    rig_free(rig);
}

static void a_rule_may_pass_a_failed_edit_on_to_the_next_handler(void **state) {
    (void)state;
    struct rig *rig = rig_with_edits(2);
    rig_fail(rig, "a", 500);
    rig_jq_answer(rig, 0, STATUS_INVALID, false);
    rig_rest(rig);
    assert_bytes(rig->jobs[1]->program, ".model = 3");
    rig_jq_output(rig, 1, "{\"model\":3}");
    rig_rest(rig);
    assert_int_equal(rig_call(rig, "a")->fallback, 2);
    rig_succeed(rig, "a");
    rig_assert_gone(rig, "a");
    rig_free(rig);
}

static void after_the_drain_an_edited_body_goes_nowhere(void **state) {
    (void)state;
    struct rig *rig = rig_with_edits(1);
    rig_fail(rig, "a", 500);
    engine_hold(rig->engine, 100);
    rig_rest(rig);
    rig_pass(rig, 100);
    rig_jq_output(rig, 0, "{}");
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig_state(rig, "a"), STATE_QUEUED);
    assert_int_equal(rig_look(rig, "a")->attempts, 0);
    rig_free(rig);
}

static void the_handler_itself_may_have_an_edit(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.jq = true});
    rig->handler_list[0].edit = BYTES(".n");
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_jq_output(rig, 0, "7");
    rig_rest(rig);
    assert_bytes(rig_call(rig, "a")->call->body, "7");
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_edited_body_is_seen_by_its_handler_alone),
        cmocka_unit_test(the_next_attempt_begins_with_the_first_handler_and_the_stored_body),
        cmocka_unit_test(what_is_being_edited_keeps_its_slot),
        cmocka_unit_test(an_edit_that_fails_is_that_handlers_outcome_and_dead_at_once),
        cmocka_unit_test(an_edit_that_gives_nothing_sends_nothing),
        cmocka_unit_test(a_rule_may_pass_a_failed_edit_on_to_the_next_handler),
        cmocka_unit_test(after_the_drain_an_edited_body_goes_nowhere),
        cmocka_unit_test(the_handler_itself_may_have_an_edit),
    };
    return cmocka_run_group_tests_name("edit", tests, NULL, NULL);
}
