#include "jq/jq_run.h"

#include <stdio.h>

#include "test.h"

enum { OUTPUT_MAX = 64 * 1024 };

static struct jq_run *run;

static int open_run(void **state) {
    (void)state;
    run = jq_run_new();
    return 0;
}

static int close_run(void **state) {
    (void)state;
    jq_run_free(run);
    return 0;
}

static bool run_to(const char *program, const char *input, struct buf *out, bool *truthy) {
    buf_init_heap(out, OUTPUT_MAX);
    return jq_run_once(run, bytes_of(program), bytes_of(input), OUTPUT_MAX, out, truthy);
}

#define assert_outcome(ok, program, input, expected)                                               \
    do {                                                                                           \
        struct buf out;                                                                            \
        bool truthy;                                                                               \
        bool was_ok = run_to(program, input, &out, &truthy);                                       \
        if (was_ok != (ok) || !bytes_is(buf_view(&out), expected))                                 \
            fail_msg("%s on %s gave %s: %.*s", program, input, was_ok ? "ok" : "an error",         \
                     BYTES_ARG(buf_view(&out)));                                                   \
        buf_free(&out);                                                                            \
    } while (0)
#define assert_gives(program, input, expected)   assert_outcome(true, program, input, expected)
#define assert_refuses(program, input, expected) assert_outcome(false, program, input, expected)

static bool truth(const char *program, const char *input) {
    struct buf out;
    bool truthy, ok = run_to(program, input, &out, &truthy);
    buf_free(&out);
    assert_true(ok);
    return truthy;
}

static bool fails_with(const char *program, const char *input, const char *part) {
    struct buf out;
    bool truthy, ok = run_to(program, input, &out, &truthy);
    bool has = bytes_find(buf_view(&out), bytes_of(part)) < out.len;
    if (ok || !has)
        print_message("%s: %.*s\n", program, BYTES_ARG(buf_view(&out)));
    buf_free(&out);
    return !ok && has;
}

static void the_first_output_counts(void **state) {
    (void)state;
    assert_gives("1, 2, error", "{}", "1");
    assert_true(truth(".a == 1", "{\"a\":1}"));
    assert_false(truth(".a", "{\"a\":null}"));
    assert_false(truth("false, true", "{}"));
    assert_true(truth("0", "{}"));
}

static void no_output_is_not_truthy(void **state) {
    (void)state;
    assert_false(truth("empty", "{}"));
    assert_false(truth("halt", "{}"));
    assert_true(truth("true", "{}"));
}

static void errors_come_back_as_text(void **state) {
    (void)state;
    assert_refuses("error(\"no good\")", "{}", "no good");
    assert_refuses("error({a: 1})", "{}", "{\"a\":1}");
    assert_true(fails_with(".a + {}", "{\"a\":1}", "cannot be added"));
    assert_true(fails_with("\"bye\" | halt_error", "{}", "bye"));
    assert_true(fails_with(".", "{\"a\":", "not JSON"));
    assert_true(fails_with(".", "", "not JSON"));
}

static void compile_errors_come_back_as_text(void **state) {
    (void)state;
    assert_true(fails_with(".a |", "{}", "syntax error"));
    assert_true(fails_with("nosuch", "{}", "nosuch/0 is not defined"));
    assert_false(fails_with(".a |", "{}", "shell quoting"));
    struct buf out;
    buf_init_heap(&out, OUTPUT_MAX);
    assert_false(jq_run_check(run, BYTES(".["), &out));
    assert_true(out.len > 0);
    buf_clear(&out);
    assert_true(jq_run_check(run, BYTES(".a"), &out));
    assert_int_equal(out.len, 0);
    assert_false(jq_run_check(run, BYTES(".a\0.b"), &out));
    buf_free(&out);
}

static void a_result_that_is_too_large_is_refused(void **state) {
    (void)state;
    assert_true(fails_with("[range(100000)]", "{}", "larger than"));
}

static void there_is_nothing_more_to_read(void **state) {
    (void)state;
    assert_true(fails_with("input", "{}", ""));
    assert_gives("[inputs]", "{}", "[]");
    assert_gives("input_filename", "{}", "null");
    assert_true(fails_with("input_line_number", "{}", ""));
    assert_gives("debug", "7", "7");
}

static void more_programs_than_are_kept_still_run(void **state) {
    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 7; i++) {
            char program[32], expected[32];
            snprintf(program, sizeof program, ". + %d", i);
            snprintf(expected, sizeof expected, "%d", 10 + i);
            assert_gives(program, "10", expected);
        }
}

/* ---- numbers (2^53 is 9007199254740992) ---- */

static void big_numbers_are_compared_exactly(void **state) {
    (void)state;
    assert_false(truth(".id == 9007199254740992", "{\"id\":9007199254740993}"));
    assert_false(truth(".id == 9007199254740993", "{\"id\":9007199254740992}"));
    assert_true(truth(".id == 9007199254740993", "{\"id\":9007199254740993}"));
    assert_true(truth(".id == 9007199254740993", "{\"id\":9007199254740993.0}"));
    assert_true(truth(".id != 12345678901234567891", "{\"id\":12345678901234567890}"));
    assert_true(truth(".id == -9007199254740993", "{\"id\":-9007199254740993}"));
    assert_true(truth("[.ids[] | select(. == 12345678901234567890)] == [12345678901234567890]",
                      "{\"ids\":[1,12345678901234567890,12345678901234567891]}"));
    assert_true(
        truth("any(.ids[]; . == 12345678901234567890)", "{\"ids\":[1,12345678901234567890]}"));
    assert_false(truth("contains({id: 1234567890123456789})", "{\"id\":12345678901234567890}"));
}

static void big_numbers_pass_through_unchanged(void **state) {
    (void)state;
    assert_gives(".id", "{\"id\":12345678901234567890}", "12345678901234567890");
    assert_gives("{x: .id, y: [.id]}", "{\"id\":9007199254740993}",
                 "{\"x\":9007199254740993,\"y\":[9007199254740993]}");
    assert_gives("12345678901234567890", "{}", "12345678901234567890");
    assert_gives("{(.id | tostring): 1}", "{\"id\":9007199254740993}", "{\"9007199254740993\":1}");
}

static void big_numbers_are_numbers_to_the_program(void **state) {
    (void)state;
    const char *input = "{\"id\":9007199254740993}";
    assert_gives(".id | type", input, "\"number\"");
    assert_gives("[.. | numbers]", input, "[9007199254740993]");
    assert_gives("[.. | strings]", input, "[]");
    assert_gives("\"order \\(.id)\"", input, "\"order 9007199254740993\"");
    assert_true(truth("(.id | tostring) == \"9007199254740993\"", input));
    assert_true(truth("\"o-\\(.id)\" == \"o-9007199254740993\"", input));
    assert_true(truth("tojson == \"{\\\"id\\\":9007199254740993}\"", input));
    assert_true(truth("([.id, 1] | join(\"-\")) == \"9007199254740993-1\"", input));
    assert_true(truth("(.id | tonumber) == .id", input));
}

static void computing_with_a_big_number_names_its_field(void **state) {
    (void)state;
    static const char expected[] = "the program computes with 9007199254740993, which a double "
                                   "cannot hold exactly (at .order.ids[1])";
    static const char input[] = "{\"order\":{\"ids\":[5,9007199254740993]}}";
    static const char *const programs[] = {".order.ids[1] + 1",
                                           "1 + .order.ids[1]",
                                           ".order.ids[1] - 1",
                                           ".order.ids[1] * 2",
                                           ".order.ids[1] / 2",
                                           ".order.ids[1] % 2",
                                           ".order.ids[1] > 1",
                                           "1 <= .order.ids[1]",
                                           ".order.ids | add",
                                           ".order.ids | max",
                                           ".order.ids | sort",
                                           ".order.ids[1] |= . + 1",
                                           ".order.ids[1] | floor",
                                           ".order.ids[1] | sqrt",
                                           ".order.ids[1] | length",
                                           ".order.ids | sort_by(.)",
                                           ".order.ids[1] | test(\"9\")",
                                           ".order.ids[1] | test(\"9\"; \"i\")",
                                           ".order.ids[1] | startswith(\"9\")",
                                           ".order.ids[1] | endswith(\"3\")",
                                           ".order.ids[1] | ascii_downcase",
                                           ".order.ids[1] | explode",
                                           ".order.ids[1] | split(\"0\")",
                                           ".order.ids[1] | index(\"0\")",
                                           ".order.ids[1] | sub(\"9\"; \"8\")",
                                           ".order.ids[1] | gsub(\"9\"; \"8\"; \"i\")",
                                           ".order.ids[1] | [match(\"9\")]",
                                           ".order.ids[1] | fromjson",
                                           ".order.ids[1] as $n | \"9\" | test($n)",
                                           ".order.ids[1] as $n | \"9\" | startswith($n)"};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        assert_refuses(programs[i], input, expected);
}

static void computing_with_other_numbers_is_not_disturbed(void **state) {
    (void)state;
    const char *input = "{\"id\":9007199254740993,\"n\":2}";
    assert_gives(".n + 1", input, "3");
    assert_gives("[(1, 2) + (10, 20)]", input, "[11,12,21,22]");
    assert_gives(".n < 3 and .n >= 2", input, "true");
    assert_gives("-.n", input, "-2");
    assert_gives("\"a\" + \"b\"", input, "\"ab\"");
    assert_gives("null + .id", input, "9007199254740993");
    assert_gives("[.n, 1] | sort", input, "[1,2]");
    assert_gives("[[1, 2], [3]] | add", input, "[1,2,3]");
    assert_gives("\"aXb\" | test(\"x\"; \"i\")", input, "true");
    assert_gives("\"aXb\" | sub(\"(?<l>X)\"; \"-\\(.l)-\")", input, "\"a-X-b\"");
    assert_gives("\"a,b\" | split(\",\")", input, "[\"a\",\"b\"]");
    assert_gives("[.n, .id] | index(9007199254740993)", input, "1");
    assert_gives("(.id | tostring | startswith(\"9007\"))", input, "true");
}

static void digits_that_are_no_literals_are_left_alone(void **state) {
    (void)state;
    assert_gives("\"12345678901234567890\"", "{}", "\"12345678901234567890\"");
    assert_gives(".a12345678901234567890", "{\"a12345678901234567890\":1}", "1");
    assert_gives("1 # 12345678901234567890", "{}", "1");
    assert_gives(". as $v12345678901234567890 | $v12345678901234567890", "3", "3");
    assert_gives("\"x\\(12345678901234567890)y\"", "{}", "\"x12345678901234567890y\"");
    assert_gives(".a", "{\"a\":\"12345678901234567890\"}", "\"12345678901234567890\"");
}

/* ---- edits ---- */

static void an_edit_changes_only_what_it_changes(void **state) {
    (void)state;
    assert_gives(".", "{ \"b\" : 1.0, \"a\":[ 1e2 ] }", "{ \"b\" : 1.0, \"a\":[ 1e2 ] }");
    assert_gives(
        ".model = \"small\"",
        "{ \"id\": 12345678901234567890, \"model\" : \"large\",\"z\":1.0, \"a\":[1.50 , 2 ] }",
        "{ \"id\": 12345678901234567890, \"model\" : \"small\",\"z\":1.0, \"a\":[1.50 , 2 ] }");
    assert_gives(".a[1] = 3", "{\"a\": [1.0, 2 ],\"b\":1.0}", "{\"a\": [1.0, 3 ],\"b\":1.0}");
    assert_gives(".o.x = 2", "{\"o\":{\"y\":1.0, \"x\":1}}", "{\"o\":{\"y\":1.0, \"x\":2}}");
}

static void an_edit_may_add_and_remove(void **state) {
    (void)state;
    assert_gives(".n = 1", "{\"b\":1.0}", "{\"b\":1.0,\"n\":1}");
    assert_gives(".n = 1", "{}", "{\"n\":1}");
    assert_gives("del(.a)", "{\"a\":1, \"b\":1.0, \"c\":2e0}", "{\"b\":1.0,\"c\":2e0}");
    assert_gives("del(.a)", "{\"a\":1}", "{}");
    assert_gives("del(.a) | .z = 1", "{\"a\":1}", "{\"z\":1}");
    assert_gives(".a += [3]", "{\"a\":[1.0]}", "{\"a\":[1.0,3]}");
    assert_gives(".a += [3]", "{\"a\":[]}", "{\"a\":[3]}");
    assert_gives(".a |= .[0:1]", "{\"a\":[1.0, 2]}", "{\"a\":[1.0]}");
    assert_gives(".a = \"s\"", "{\"a\":[1.0]}", "{\"a\":\"s\"}");
    assert_gives(".[\"\\u00e9\"] = 2", "{\"\\u00e9\":1}", "{\"\\u00e9\":2}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_output_counts),
        cmocka_unit_test(no_output_is_not_truthy),
        cmocka_unit_test(errors_come_back_as_text),
        cmocka_unit_test(compile_errors_come_back_as_text),
        cmocka_unit_test(a_result_that_is_too_large_is_refused),
        cmocka_unit_test(there_is_nothing_more_to_read),
        cmocka_unit_test(more_programs_than_are_kept_still_run),
        cmocka_unit_test(big_numbers_are_compared_exactly),
        cmocka_unit_test(big_numbers_pass_through_unchanged),
        cmocka_unit_test(big_numbers_are_numbers_to_the_program),
        cmocka_unit_test(computing_with_a_big_number_names_its_field),
        cmocka_unit_test(computing_with_other_numbers_is_not_disturbed),
        cmocka_unit_test(digits_that_are_no_literals_are_left_alone),
        cmocka_unit_test(an_edit_changes_only_what_it_changes),
        cmocka_unit_test(an_edit_may_add_and_remove),
    };
    return cmocka_run_group_tests(tests, open_run, close_run);
}
