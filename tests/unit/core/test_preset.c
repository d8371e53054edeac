#include "test.h"

#include <stdio.h>

#include "base/buf.h"
#include "core/classify.h"

#define BYTES_INIT(literal)                                                                        \
    { (literal), sizeof(literal) - 1 }

/* Rows that a preset takes over from another keep their first name. */
static void a_row_is_named_after_its_place(void **state) {
    (void)state;
    for (int p = 0; p < PRESET_COUNT; p++) {
        size_t count;
        const struct rule *rules = preset_rules((enum preset)p, &count);
        size_t own = p == PRESET_ERRORS ? 0 : count; /* whose rows are named after families */
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
                        when->error_type.len || when->message_has.len || when->types.count ||
                        when->messages.count || when->message_status.from ||
                        when->told_status.from);
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

static void families_have_names_of_their_own(void **state) {
    (void)state;
    size_t count;
    const struct rule *rules = preset_errors(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(bytes_starts(rules[i].name, BYTES("preset:errors[")));
        for (size_t j = 0; j < i; j++)
            assert_false(bytes_eq(rules[i].name, rules[j].name));
    }
}

/* Of the families, those that are tried again speak against the downstream, and no other. */
static void retried_families_count_for_the_breaker(void **state) {
    (void)state;
    size_t count;
    const struct rule *rules = preset_errors(&count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rules[i].downstream, rules[i].verdict == VERDICT_RETRY);
}

static void put_globs(struct buf *out, struct rule_globs globs) {
    for (size_t i = 0; i < globs.count; i++)
        buf_printf(out, " `%.*s`", BYTES_ARG(globs.list[i]));
}

static void put_family(struct buf *out, const struct rule *rule) {
    struct bytes name = bytes_cut(rule->name, 14, rule->name.len - 1);
    struct rule_range told = rule->when.told_status;
    struct rule_range says = told.from ? told : rule->when.message_status;
    buf_printf(out, "| `%.*s` | %s %.*s/`%.*s` |", BYTES_ARG(name), verdict_text(rule->verdict),
               BYTES_ARG(rule->category), BYTES_ARG(rule->reason));
    if (says.from)
        buf_printf(out, says.from == says.to ? " status %d" : " status %d to %d", says.from,
                   says.to);
    if (says.from && rule->when.types.count)
        buf_str(out, told.from ? " told by the message of" : " in the message of");
    put_globs(out, rule->when.types);
    if (rule->when.messages.count)
        buf_str(out, rule->when.types.count ? ", by the form of the message"
                                            : " any type, by the form of the message");
    if (says.from && !rule->when.types.count)
        buf_str(out, " at the beginning of the message, any type");
    buf_str(out, " |\n");
}

/* What fails here prints the line that docs/config.md lacks. */
static void the_documentation_lists_every_family(void **state) {
    (void)state;
    static char page[1 << 20];
    FILE *file = fopen(CONFIG_PAGE, "r");
    assert_non_null(file);
    struct bytes text = {page, fread(page, 1, sizeof page, file)};
    fclose(file);
    size_t count, missing = 0;
    const struct rule *rules = preset_errors(&count);
    for (size_t i = 0; i < count; i++) {
        char memory[8192];
        struct buf line;
        buf_init_fixed(&line, memory, sizeof memory);
        put_family(&line, &rules[i]);
        assert_false(line.overflow);
        if (bytes_find(text, buf_view(&line)) < text.len)
            continue;
        missing++;
        fwrite(line.ptr, 1, line.len, stdout);
    }
    assert_int_equal(missing, 0);
}

static void a_status_is_read_where_a_message_begins(void **state) {
    (void)state;
    static const struct {
        const char *message;
        int status;
    } rows[] = {
        {"503 Server Error: Service Unavailable for url: http://h/", 503},
        {"HTTP Error 429: Too Many Requests", 429},
        {"HTTP/1.1 503 Service Unavailable", 503},
        {"Error code: 401 - {'error': 1}", 401},
        {"Client error '400 Bad Request' for url 'http://h/'", 400},
        {"Request failed with status code 500", 500},
        {"<HttpError 503 when requesting http://h/ returned \"x\">", 503},
        {"Response status code does not indicate success: 404 (Not Found).", 404},
        {"503, message='x'", 503},
        {"429", 429},
        {"(404) no such page", 404},
        {"", 0},
        {"503 orders were skipped", 0},
        {"5030", 0},
        {"503a", 0},
        {"200 OK", 0},
        {"status of order 503", 0},
        {"the note: 503 Service Unavailable", 0},
        {"Invalid value: \"503\"", 0},
        {"\xff\xfe 503", 503},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(rule_message_status(bytes_of(rows[i].message)), rows[i].status);
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
        cmocka_unit_test(families_have_names_of_their_own),
        cmocka_unit_test(retried_families_count_for_the_breaker),
        cmocka_unit_test(the_documentation_lists_every_family),
        cmocka_unit_test(a_status_is_read_where_a_message_begins),
        cmocka_unit_test(facts_reach_all_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
