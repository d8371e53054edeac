#include "jq/jq_run.h"

#include <stdio.h>

#include "test.h"

enum { OUTPUT_MAX = 64 * 1024, PROGRAM_MAX = 64 * 1024, KEPT = 64 };

static struct jq_run *run;

static int open_run(void **state) {
    (void)state;
    run = jq_run_new(KEPT);
    return 0;
}

static int close_run(void **state) {
    (void)state;
    jq_run_free(run);
    return 0;
}

static bool run_to(const char *program, const char *input, struct buf *out, bool *truthy) {
    buf_init_heap(out, OUTPUT_MAX);
    return jq_run_prepare(run, bytes_of(program), bytes_of(input), out) &&
           jq_run_go(run, OUTPUT_MAX, out, truthy);
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

/* Compiling takes a thousand times longer than running, so cases that have one input are one
 * program: the list of what they give. */
struct given {
    const char *program, *expected;
};

static void assert_all_give(const char *input, const struct given *cases, size_t count) {
    struct buf program, expected;
    buf_init_heap(&program, PROGRAM_MAX);
    buf_init_heap(&expected, PROGRAM_MAX);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&program, "%s(%s)", i > 0 ? ", " : "[", cases[i].program);
        buf_printf(&expected, "%s%s", i > 0 ? "," : "[", cases[i].expected);
    }
    buf_char(&program, ']');
    buf_char(&expected, ']');
    assert_gives(buf_cstr(&program), input, buf_cstr(&expected));
    buf_free(&program);
    buf_free(&expected);
}

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

static void no_output_is_not_null(void **state) {
    (void)state;
    assert_gives("null", "{}", "null");
    assert_gives("empty", "{}", "");
    assert_gives("select(.a == 1)", "{\"a\":9007199254740993}", "");
    assert_gives("halt", "{}", "");
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
    assert_false(fails_with(".a |", "{}", "\n"));
    struct buf out;
    buf_init_heap(&out, OUTPUT_MAX);
    assert_false(jq_run_prepare(run, BYTES(".["), BYTES_NONE, &out));
    assert_true(out.len > 0);
    buf_clear(&out);
    assert_true(jq_run_prepare(run, BYTES(".a"), BYTES_NONE, &out));
    assert_int_equal(out.len, 0);
    assert_false(jq_run_prepare(run, BYTES(".a\0.b"), BYTES_NONE, &out));
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

static void a_program_is_compiled_once_and_the_one_used_longest_ago_is_forgotten(void **state) {
    (void)state;
    static const struct {
        const char *program, *input, *expected;
        size_t compiled; /* in all, behind it */
    } steps[] = {
        {". + 1", "10", "11", 1}, {". + 1", "20", "21", 1}, {". + 2", "10", "12", 2},
        {". + 1", "30", "31", 2}, {". + 3", "10", "13", 3}, {". + 1", "40", "41", 3},
        {". + 2", "50", "52", 4}, {". + 1", "60", "61", 4},
    };
    struct jq_run *suite_run = run;
    run = jq_run_new(2);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_gives(steps[i].program, steps[i].input, steps[i].expected);
        assert_int_equal(jq_run_compiled(run), steps[i].compiled);
    }
    jq_run_free(run);
    run = suite_run;
}

static void a_halt_does_not_last(void **state) {
    (void)state;
    assert_gives("if . == 1 then halt else . end", "1", "");
    assert_gives("if . == 1 then halt else . end", "2", "2");
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
    static const struct given cases[] = {
        {".id | type", "\"number\""},
        {"[.. | numbers]", "[9007199254740993]"},
        {"[.. | strings]", "[]"},
        {"\"order \\(.id)\"", "\"order 9007199254740993\""},
        {"(.id | tostring) == \"9007199254740993\"", "true"},
        {"\"o-\\(.id)\" == \"o-9007199254740993\"", "true"},
        {"tojson == \"{\\\"id\\\":9007199254740993}\"", "true"},
        {"([.id, 1] | join(\"-\")) == \"9007199254740993-1\"", "true"},
        {"(.id | tonumber) == .id", "true"},
    };
    assert_all_give("{\"id\":9007199254740993}", cases, sizeof cases / sizeof cases[0]);
}

/* The body holds no such number; the program makes them of its texts. */
static void numbers_that_are_made_of_texts_are_exact_too(void **state) {
    (void)state;
    static const struct given cases[] = {
        {".id | tonumber", "12345678901234567890"},
        {"(.id | tonumber) == 12345678901234567890", "true"},
        {"(.id | tonumber) == 12345678901234567891", "false"},
        {"(.id | tonumber | tostring) == .id", "true"},
        {"\" -9007199254740993\\n\" | tonumber", "-9007199254740993"},
        {"[\"5\", \"1.50\", \"9007199254740992\"] | map(tonumber - 1)", "[4,0.5,9007199254740991]"},
        {"\"0.10000000000000000001\" | tonumber", "1.0000000000000000001e-1"},
        {"[\"1e400\", \"0.1e401\"] | map(tonumber) | unique", "[1e400]"},
        {"[\"1e70\", \"123e-400\", \"0.00000000000000000\"] | map(tonumber)",
         "[1e+70,1.23e-398,0]"},
        {"[\"12345678901234567e2\", \"1234567890123456789012.50\"] | map(tonumber)",
         "[1234567890123456700,1234567890123456789012.5]"},
        {".text | fromjson | .a", "12345678901234567891"},
        {".text | fromjson | .b", "[1,-9007199254740993,{\"c\":1e400}]"},
        {".text | fromjson | .\"k\\\"\\\\\"", "\"9007199254740993, 9007199254740993\""},
        {".text | fromjson | .z = 1 | tojson | fromjson | .a", "12345678901234567891"},
        {".text | [fromjson | paths(type == \"number\")] | length", "5"},
    };
    static const char input[] =
        "{\"id\":\"12345678901234567890\",\"text\":\"{\\\"a\\\": 12345678901234567891,"
        "\\\"k\\\\\\\"\\\\\\\\\\\":\\\"9007199254740993, 9007199254740993\\\","
        "\\\"b\\\":[1,-9007199254740993,{\\\"c\\\":1e400}],\\\"d\\\":2}\"}";
    assert_all_give(input, cases, sizeof cases / sizeof cases[0]);
    assert_refuses(".id | tonumber + 1", input,
                   "the program computes with 12345678901234567890, which a double cannot hold "
                   "exactly (at .id)");
    assert_true(fails_with("\"[12345678901234567890\" | fromjson", "{}", "Unfinished JSON"));
    assert_true(
        fails_with("\"x12345678901234567890\" | tonumber", "{}", "Invalid numeric literal"));
}

static void computing_with_a_big_number_names_its_field(void **state) {
    (void)state;
    static const char expected[] = "the program computes with 9007199254740993, which a double "
                                   "cannot hold exactly (at .order.ids[1])";
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
    struct buf program; /* of all of them: the input says which one */
    buf_init_heap(&program, PROGRAM_MAX);
    size_t count = sizeof programs / sizeof programs[0];
    for (size_t i = 0; i < count; i++)
        buf_printf(&program, "if .case == %zu then (%s) else ", i, programs[i]);
    buf_str(&program, "empty");
    for (size_t i = 0; i < count; i++)
        buf_str(&program, " end");
    for (size_t i = 0; i < count; i++) {
        char input[80];
        snprintf(input, sizeof input, "{\"case\":%zu,\"order\":{\"ids\":[5,9007199254740993]}}", i);
        assert_refuses(buf_cstr(&program), input, expected);
    }
    buf_free(&program);
}

static void computing_with_other_numbers_is_not_disturbed(void **state) {
    (void)state;
    static const struct given cases[] = {
        {".n + 1", "3"},
        {"[(1, 2) + (10, 20)]", "[11,12,21,22]"},
        {".n < 3 and .n >= 2", "true"},
        {"-.n", "-2"},
        {"\"a\" + \"b\"", "\"ab\""},
        {"null + .id", "9007199254740993"},
        {"[.n, 1] | sort", "[1,2]"},
        {"[[1, 2], [3]] | add", "[1,2,3]"},
        {"\"aXb\" | test(\"x\"; \"i\")", "true"},
        {"\"aXb\" | sub(\"(?<l>X)\"; \"-\\(.l)-\")", "\"a-X-b\""},
        {"\"a,b\" | split(\",\")", "[\"a\",\"b\"]"},
        {"(.id | tostring | startswith(\"9007\"))", "true"},
    };
    assert_all_give("{\"id\":9007199254740993,\"n\":2}", cases, sizeof cases / sizeof cases[0]);
}

/* libjq 1.6 loses a reference to each element of a list in which a value is looked for: every value
 * that this case reads, and nothing else, is its own leak. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static void a_big_number_is_found_in_a_list(void **state) {
    (void)state;
    if (__lsan_disable)
        __lsan_disable();
    assert_gives("[.n, .id] | index(9007199254740993)", "{\"id\":9007199254740993,\"n\":2}", "1");
    if (__lsan_enable)
        __lsan_enable();
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
        cmocka_unit_test(no_output_is_not_null),
        cmocka_unit_test(errors_come_back_as_text),
        cmocka_unit_test(compile_errors_come_back_as_text),
        cmocka_unit_test(a_result_that_is_too_large_is_refused),
        cmocka_unit_test(there_is_nothing_more_to_read),
        cmocka_unit_test(a_program_is_compiled_once_and_the_one_used_longest_ago_is_forgotten),
        cmocka_unit_test(a_halt_does_not_last),
        cmocka_unit_test(big_numbers_are_compared_exactly),
        cmocka_unit_test(big_numbers_pass_through_unchanged),
        cmocka_unit_test(big_numbers_are_numbers_to_the_program),
        cmocka_unit_test(numbers_that_are_made_of_texts_are_exact_too),
        cmocka_unit_test(computing_with_a_big_number_names_its_field),
        cmocka_unit_test(computing_with_other_numbers_is_not_disturbed),
        cmocka_unit_test(a_big_number_is_found_in_a_list),
        cmocka_unit_test(digits_that_are_no_literals_are_left_alone),
        cmocka_unit_test(an_edit_changes_only_what_it_changes),
        cmocka_unit_test(an_edit_may_add_and_remove),
    };
    return cmocka_run_group_tests(tests, open_run, close_run);
}
