#include "test.h"

#include <stdio.h>

#include "core/classify.h"

#define BYTES_INIT(literal)                                                                        \
    { (literal), sizeof(literal) - 1 }

/* Rows that a preset takes over from another keep their first name. */
static void a_row_is_named_after_its_place(void **state) {
    (void)state;
    for (int p = 0; p < PRESET_COUNT; p++) {
        size_t count;
        const struct rule *rules = preset_rules((enum preset)p, &count);
        size_t own = count;
        if (p == PRESET_AI_API) {
            size_t http;
            preset_rules(PRESET_HTTP, &http);
            own = count - http;
        }
        for (size_t i = 0; i < own; i++) {
            char name[64];
            snprintf(name, sizeof name, "preset:%s[%zu]", preset_text((enum preset)p), i);
            assert_bytes(rules[i].name, name);
        }
    }
}

static void ai_api_ends_with_all_rows_of_http(void **state) {
    (void)state;
    size_t http_count, ai_count;
    const struct rule *http = preset_rules(PRESET_HTTP, &http_count);
    const struct rule *ai = preset_rules(PRESET_AI_API, &ai_count);
    assert_true(ai_count > http_count);
    for (size_t i = 0; i < http_count; i++)
        assert_true(bytes_eq(ai[ai_count - http_count + i].name, http[i].name));
}

static void every_row_has_words_and_a_condition(void **state) {
    (void)state;
    for (int p = 0; p < PRESET_COUNT; p++) {
        size_t count;
        const struct rule *rules = preset_rules((enum preset)p, &count);
        for (size_t i = 0; i < count; i++) {
            const struct rule_when *when = &rules[i].when;
            assert_true(rules[i].category.len && rules[i].reason.len);
            assert_true(when->status_count || when->exit_code_count || when->kinds ||
                        when->error_type.len || when->message_has.len);
            assert_false(rule_needs_facts(&rules[i]));
        }
    }
}

/* A message may quote the request: only its start, with a status, is the provider's own. */
static void rows_of_ai_api_judge_by_no_echoed_text(void **state) {
    (void)state;
    size_t count;
    const struct rule *rules = preset_rules(PRESET_AI_API, &count);
    for (size_t i = 0; i < count; i++) {
        const struct rule_when *when = &rules[i].when;
        assert_int_equal(when->message_has.len, 0);
        if (when->message_starts.len) {
            assert_true(when->status_count > 0);
            assert_true(when->message_starts.ptr[0] != '*');
        }
    }
}

static struct rule answer_rules[] = {
    {.when = {.body = BYTES_INIT("a")}, .verdict = VERDICT_DLQ, .name = BYTES_INIT("first")},
    {.when = {.body = BYTES_INIT("b")},
     .verdict = VERDICT_RETRY,
     .category = BYTES_INIT("transient"),
     .name = BYTES_INIT("second")},
};

static void the_first_answer_rule_that_matched_decides(void **state) {
    (void)state;
    struct policy policy;
    policy_init(&policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    policy.answers = answer_rules;
    policy.answer_count = 2;
    struct outcome outcome = {.ending = ENDING_FAILED, .kind = KIND_ANSWER, .status = 503};
    struct rule_subject subject = {.outcome = &outcome, .attempt = 1};
    struct rule_facts facts = {0};
    assert_bytes(classify(&policy, &subject, &facts).rule_name, "preset:http[3]");
    rule_facts_set_answer(&facts, 1);
    assert_bytes(classify(&policy, &subject, &facts).rule_name, "second");
    rule_facts_set_answer(&facts, 0);
    assert_bytes(classify(&policy, &subject, &facts).rule_name, "first");
    outcome.kind = KIND_STATUS; /* a failure of another kind is none of theirs */
    assert_bytes(classify(&policy, &subject, &facts).rule_name, "preset:http[3]");
}

static void an_answer_is_matched_by_status_header_and_emptiness(void **state) {
    (void)state;
    struct rule_header header = {BYTES("X-Part"), BYTES("half of it")};
    struct rule_answer answer = {200, BYTES(" null\n"), &header, 1};
    struct rule_when when = {.statuses = {{200, 299}}, .status_count = 1};
    assert_true(rule_matches_answer(&when, &answer));
    when.header_name = BYTES("x-part");
    when.header_value = BYTES("half*");
    when.empty = RULE_EMPTY_YES;
    assert_true(rule_matches_answer(&when, &answer));
    when.empty = RULE_EMPTY_NO;
    assert_false(rule_matches_answer(&when, &answer));
    answer.text = BYTES("0");
    assert_true(rule_matches_answer(&when, &answer));
    when.header_value = BYTES("whole");
    assert_false(rule_matches_answer(&when, &answer));
    when = (struct rule_when){.statuses = {{200, 299}}, .status_count = 1};
    answer.status = 0; /* a program has none */
    assert_false(rule_matches_answer(&when, &answer));
}

/* The last of the queue's rules must be found as well as the first. */
static void facts_reach_all_rules(void **state) {
    (void)state;
    static struct rule rules[RULES_MAX];
    for (size_t i = 0; i < RULES_MAX; i++)
        rules[i] = (struct rule){.when = {.jq = BYTES(".x")}, .verdict = VERDICT_DISCARD};
    rules[RULES_MAX - 1].name = BYTES("last");
    struct policy policy;
    policy_init(&policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    policy.rules = rules;
    policy.rule_count = RULES_MAX;
    struct outcome outcome = {.ending = ENDING_FAILED, .kind = KIND_STATUS, .status = 503};
    struct rule_subject subject = {.outcome = &outcome, .attempt = 1};
    struct rule_facts facts = {0};
    assert_bytes(classify(&policy, &subject, &facts).rule_name, "preset:http[3]");
    assert_bytes(classify(&policy, &subject, NULL).rule_name, "preset:http[3]");
    rule_facts_set(&facts, RULES_MAX - 1);
    assert_bytes(classify(&policy, &subject, &facts).rule_name, "last");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_named_after_its_place),
        cmocka_unit_test(ai_api_ends_with_all_rows_of_http),
        cmocka_unit_test(every_row_has_words_and_a_condition),
        cmocka_unit_test(rows_of_ai_api_judge_by_no_echoed_text),
        cmocka_unit_test(the_first_answer_rule_that_matched_decides),
        cmocka_unit_test(an_answer_is_matched_by_status_header_and_emptiness),
        cmocka_unit_test(facts_reach_all_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
