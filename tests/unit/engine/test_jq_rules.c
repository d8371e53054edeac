/* Rules that ask jq: the attempt waits for every answer, in whatever order they come. */
#include "rig.h"

enum { RULES = 3 };

/* discard, dlq, retry: each for what its program says of a 418, which no preset knows. */
static const struct rule rules[RULES] = {
    {.when = {.statuses = {{418, 418}}, .status_count = 1, .jq = {".a", 2}},
     .verdict = VERDICT_DISCARD,
     .category = {"tea", 3},
     .reason = {"first", 5},
     .name = {"q.rules[0]", 10}},
    {.when = {.jq = {".b", 2}},
     .verdict = VERDICT_DLQ,
     .category = {"pot", 3},
     .reason = {"second", 6},
     .name = {"q.rules[1]", 10}},
    {.when = {.jq = {".c", 2}},
     .verdict = VERDICT_RETRY,
     .category = {"cup", 3},
     .reason = {"third", 5},
     .name = {"q.rules[2]", 10}},
};

static struct rig *rig_with(struct rule own[RULES], struct rig_options options) {
    options.jq = true;
    struct rig *rig = rig_new(options);
    memcpy(own, rules, sizeof rules);
    rig->policy.rules = own;
    rig->policy.rule_count = RULES;
    return rig;
}

static void fail_and_ask(struct rig *rig, const char *id, int status) {
    rig_push(rig, id);
    rig_rest(rig);
    rig_fail(rig, id, status);
}

static void nothing_is_decided_before_every_answer_is_there(void **state) {
    (void)state;
    struct rule own[RULES];
    struct rig *rig = rig_with(own, (struct rig_options){0});
    rig_open(rig);
    fail_and_ask(rig, "a", 418);
    assert_int_equal(rig->job_count, 3);
    assert_bytes(rig->jobs[0]->program, ".a");
    assert_bytes(rig->jobs[2]->program, ".c");
    rig_clear_log(rig);
    rig_jq_answer(rig, 0, STATUS_OK, true);
    rig_rest(rig);
    rig_jq_answer(rig, 1, STATUS_OK, false);
    rig_pass(rig, 60000);
    rig_assert_log(rig, "");
    rig_jq_answer(rig, 2, STATUS_OK, false);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_DISCARDED);
    rig_free(rig);
}

static void jq_sees_the_envelope_with_its_body(void **state) {
    (void)state;
    struct rule own[RULES];
    struct rig *rig = rig_with(own, (struct rig_options){0});
    rig_open(rig);
    fail_and_ask(rig, "a", 418);
    struct json input, message, value;
    assert_int_equal(json_parse(rig->jobs[0]->input, &input, NULL), STATUS_OK);
    assert_true(json_get(input, "message", &message) && json_get(message, "id", &value));
    assert_bytes(value.text, "\"a\"");
    assert_true(json_get(message, "body", &value));
    assert_bytes(value.text, "{}");
    for (size_t i = 0; i < RULES; i++)
        rig_jq_answer(rig, i, STATUS_OK, false);
    rig_rest(rig);
    rig_free(rig);
}

static void the_first_rule_wins_whatever_answer_comes_first(void **state) {
    (void)state;
    static const size_t orders[][RULES] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    for (size_t n = 0; n < 3; n++) {
        struct rule own[RULES];
        struct rig *rig = rig_with(own, (struct rig_options){0});
        rig_open(rig);
        fail_and_ask(rig, "a", 418);
        for (size_t i = 0; i < RULES; i++)
            rig_jq_answer(rig, orders[n][i], STATUS_OK, orders[n][i] > 0);
        rig_rest(rig);
        assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
        assert_bytes(rig_look(rig, "a")->rule, "q.rules[1]");
        assert_bytes(rig_look(rig, "a")->reason, "second");
        rig_free(rig);
    }
}

static void a_program_that_fails_does_not_match_and_is_counted(void **state) {
    (void)state;
    struct rule own[RULES];
    struct rig *rig = rig_with(own, (struct rig_options){0});
    rig_open(rig);
    fail_and_ask(rig, "a", 418);
    rig_jq_answer(rig, 0, STATUS_INVALID, true);
    rig_jq_answer(rig, 1, STATUS_INVALID, false);
    rig_jq_answer(rig, 2, STATUS_OK, true);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_RETRY);
    assert_bytes(rig_look(rig, "a")->rule, "q.rules[2]");
    assert_int_equal(rig_view(rig).jq_errors, 2);
    rig_free(rig);
}

static void when_none_matches_the_presets_decide(void **state) {
    (void)state;
    struct rule own[RULES];
    struct rig *rig = rig_with(own, (struct rig_options){0});
    rig_open(rig);
    fail_and_ask(rig, "a", 400);
    assert_int_equal(rig->job_count, 2); /* the first is about 418 */
    rig_jq_answer(rig, 0, STATUS_OK, false);
    rig_jq_answer(rig, 1, STATUS_OK, false);
    rig_rest(rig);
    assert_bytes(rig_look(rig, "a")->rule, "preset:http[9]");
    rig_free(rig);
}

static void a_pattern_that_does_not_match_asks_nobody(void **state) {
    (void)state;
    struct rule own[RULES];
    struct rig *rig = rig_with(own, (struct rig_options){0});
    own[0].when.message = BYTES("^never$");
    own[1].when.message = BYTES("said (no|yes)");
    own[2].when.jq = BYTES_NONE;
    own[2].when.message = BYTES("it said");
    rig_open(rig);
    fail_and_ask(rig, "a", 418);
    assert_int_equal(rig->job_count, 1);
    assert_bytes(rig->jobs[0]->program, ".b");
    rig_jq_answer(rig, 0, STATUS_OK, false);
    rig_rest(rig);
    assert_bytes(rig_look(rig, "a")->rule, "q.rules[2]");
    rig_free(rig);
}

static void a_success_asks_nobody(void **state) {
    (void)state;
    struct rule own[RULES];
    struct rig *rig = rig_with(own, (struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_succeed(rig, "a");
    assert_int_equal(rig->job_count, 0);
    rig_assert_gone(rig, "a");
    rig_free(rig);
}

static void answers_of_different_messages_do_not_mix(void **state) {
    (void)state;
    struct rule own[RULES];
    struct rig *rig = rig_with(own, (struct rig_options){0});
    rig->policy.rule_count = 1;
    rig_open(rig);
    fail_and_ask(rig, "a", 418);
    fail_and_ask(rig, "b", 418);
    rig_jq_answer(rig, 1, STATUS_OK, false);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "b"), STATE_PENDING_REVIEW);
    rig_jq_answer(rig, 0, STATUS_OK, true);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_DISCARDED);
    rig_free(rig);
}

/* The slot is given away only when it is known that no fallback will need it. */
static void a_fallback_that_jq_decides_stays_within_the_concurrency(void **state) {
    (void)state;
    struct rule own[RULES];
    struct rig *rig = rig_with(own, (struct rig_options){.handlers = 2});
    own[0].verdict = VERDICT_FALLBACK;
    rig->policy.rule_count = 1;
    rig->concurrency = 1;
    rig_open(rig);
    rig_push(rig, "a");
    rig_push(rig, "b");
    rig_rest(rig);
    rig_fail(rig, "a", 418);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_jq_answer(rig, 0, STATUS_OK, true);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 1);
    assert_int_equal(rig_call(rig, "a")->fallback, 1);
    rig_succeed(rig, "a");
    assert_non_null(rig_call(rig, "b"));
    rig_free(rig);
}

static void reload(struct rig *rig, const struct engine_rules *after) {
    struct rig_request *asked = rig_request(rig, ENGINE_RELOAD);
    asked->request.rules = after;
    engine_ask(rig->engine, &asked->request);
    rig_rest(rig);
}

/* What was rules[1] is rules[0] now, and there is no other. */
static void a_reload_while_jq_is_asked_is_for_the_next_failure(void **state) {
    (void)state;
    struct rule own[RULES];
    struct rig *rig = rig_with(own, (struct rig_options){0});
    rig_open(rig);
    fail_and_ask(rig, "a", 418);
    struct policy fewer = rig->policy;
    fewer.rules = &own[1];
    fewer.rule_count = 1;
    struct engine_rules after = {
        .policy = &fewer, .concurrency = 4, .dlqs = rig->dlqs, .dlq_count = 2};
    reload(rig, &after);
    rig_jq_answer(rig, 0, STATUS_OK, true);
    rig_jq_answer(rig, 1, STATUS_INVALID, false);
    rig_jq_answer(rig, 2, STATUS_INVALID, false);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_DISCARDED);
    fail_and_ask(rig, "b", 418);
    assert_int_equal(rig->job_count, RULES + 1);
    rig_jq_answer(rig, RULES, STATUS_OK, true);
    rig_rest(rig);
    assert_bytes(rig_look(rig, "b")->reason, "second");
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_decided_before_every_answer_is_there),
        cmocka_unit_test(jq_sees_the_envelope_with_its_body),
        cmocka_unit_test(the_first_rule_wins_whatever_answer_comes_first),
        cmocka_unit_test(a_program_that_fails_does_not_match_and_is_counted),
        cmocka_unit_test(when_none_matches_the_presets_decide),
        cmocka_unit_test(a_pattern_that_does_not_match_asks_nobody),
        cmocka_unit_test(a_success_asks_nobody),
        cmocka_unit_test(answers_of_different_messages_do_not_mix),
        cmocka_unit_test(a_fallback_that_jq_decides_stays_within_the_concurrency),
        cmocka_unit_test(a_reload_while_jq_is_asked_is_for_the_next_failure),
    };
    return cmocka_run_group_tests_name("jq_rules", tests, NULL, NULL);
}
