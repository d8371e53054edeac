#include "test.h"

#include "base/text/base64.h"
#include "base/json/json.h"
#include "base/json/json_member.h"

static enum status parse(const char *text, struct json *out) {
    return json_parse(bytes_of(text), out, NULL);
}

static void what_rfc_8259_allows_is_taken(void **state) {
    (void)state;
    static const char *const good[] = {"null",
                                       " true ",
                                       "false",
                                       "0",
                                       "-0",
                                       "1.0",
                                       "1e9",
                                       "1E+9",
                                       "-12.5e-3",
                                       "\"\"",
                                       "\"a\\u00e9\\n\"",
                                       "[]",
                                       "{}",
                                       "[1,2,[3]]",
                                       "{\"a\":{\"b\":[]}}",
                                       "[ ]",
                                       "{ }",
                                       "\t[\n1 , 2]\r\n",
                                       "12345678901234567890"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct json value;
        if (parse(good[i], &value) != STATUS_OK)
            fail_msg("refused: %s", good[i]);
    }
}

static void what_it_forbids_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      " ",
                                      "nul",
                                      "truee",
                                      "01",
                                      "1.",
                                      ".5",
                                      "-",
                                      "+1",
                                      "1e",
                                      "\"",
                                      "\"\\x\"",
                                      "\"\\u12g4\"",
                                      "\"\t\"",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "{,}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{\"a\" 1}",
                                      "[",
                                      "{",
                                      "]",
                                      "[1",
                                      "{\"a\":1",
                                      "[}",
                                      "{]",
                                      "1 2",
                                      "'a'",
                                      "NaN",
                                      "\xff",
                                      "\"\xc3\"",
                                      "\"\xed\xa0\x80\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct json value;
        if (parse(bad[i], &value) == STATUS_OK)
            fail_msg("taken: %s", bad[i]);
    }
}

/* Long strings are looked through some words at a time. */
static void what_is_odd_is_found_anywhere_in_a_long_string(void **state) {
    (void)state;
    static const char odd[] = {'"', '\\', '\n', '\x1f', '\x80', '\xff'};
    char text[80];
    struct json value;
    for (size_t len = 2; len <= sizeof text; len++) {
        memset(text, 'x', len);
        text[0] = text[len - 1] = '"';
        assert_int_equal(json_parse((struct bytes){text, len}, &value, NULL), STATUS_OK);
        for (size_t i = 1; i + 1 < len; i++) {
            for (size_t which = 0; which < sizeof odd; which++) {
                text[i] = odd[which];
                assert_int_equal(json_parse((struct bytes){text, len}, &value, NULL),
                                 STATUS_INVALID);
            }
            text[i] = '\x7f';
            assert_int_equal(json_parse((struct bytes){text, len}, &value, NULL), STATUS_OK);
            text[i] = 'x';
        }
    }
}

static void an_error_names_line_and_column(void **state) {
    (void)state;
    struct json value;
    struct err err;
    assert_int_equal(json_parse(BYTES("{\"a\":1,\n \"b\" 2}"), &value, &err), STATUS_INVALID);
    assert_string_equal(err.text, "not JSON: line 2, column 6: a colon was expected here");
}

static void deep_nesting_is_refused_without_recursion(void **state) {
    (void)state;
    char deep[100001];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    struct json value;
    assert_int_equal(parse(deep, &value), STATUS_INVALID);
}

static void values_are_slices_of_the_text(void **state) {
    (void)state;
    const char *text = "{\"id\": 12345678901234567890, \"body\": {\"b\":1.0, \"a\" : 2,\"b\":3} }";
    struct json value, body;
    assert_int_equal(parse(text, &value), STATUS_OK);
    assert_true(json_get(value, "body", &body));
    assert_bytes(body.text, "{\"b\":1.0, \"a\" : 2,\"b\":3}");
    assert_true(body.text.ptr > text && body.text.ptr < text + strlen(text));
}

static void strings_are_decoded(void **state) {
    (void)state;
    char memory[256];
    struct arena arena;
    struct json value;
    struct bytes got;
    arena_init_fixed(&arena, memory, sizeof memory);
    assert_int_equal(parse("\"a\\n\\u00e9\\ud83d\\ude00\\ud800x\\\"\\/\"", &value), STATUS_OK);
    assert_true(json_string(value, &arena, &got));
    assert_bytes(got, "a\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbdx\"/");
}

static void keys_match_escaped_or_not_and_the_last_wins(void **state) {
    (void)state;
    struct json value, got;
    assert_int_equal(parse("{\"a\":1,\"\\u0061\":2}", &value), STATUS_OK);
    assert_true(json_get(value, "a", &got));
    assert_bytes(got.text, "2");
    assert_false(json_get(value, "b", &got));
}

static void whole_numbers_must_be_whole_and_fit(void **state) {
    (void)state;
    struct json value;
    int64_t n;
    parse("-9223372036854775808", &value);
    assert_true(json_i64(value, &n) && n == INT64_MIN);
    parse("9223372036854775808", &value);
    assert_false(json_i64(value, &n));
    parse("-12.00", &value); /* whole, as in JSON Schema */
    assert_true(json_i64(value, &n) && n == -12);
    parse("1.01", &value);
    assert_false(json_i64(value, &n));
    parse("1e3", &value);
    assert_false(json_i64(value, &n));
}

static void the_writer_puts_commas_and_escapes(void **state) {
    (void)state;
    char memory[256];
    struct buf buf;
    buf_init_fixed(&buf, memory, sizeof memory);
    struct json_out out = json_out(&buf);
    json_open(&out, '{');
    json_key(&out, "a");
    json_put(&out, BYTES("x\"\\\n\x01\xff\xc3\xa9"));
    json_key(&out, "b");
    json_open(&out, '[');
    json_put_i64(&out, INT64_MIN);
    json_put_bool(&out, true);
    json_put(&out, BYTES_NONE);
    json_open(&out, '{');
    json_close(&out, '}');
    json_close(&out, ']');
    json_key(&out, "c");
    json_put_base64(&out, BYTES("\x00\xff\x10z"));
    json_close(&out, '}');
    assert_bytes(buf_view(&buf), "{\"a\":\"x\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\","
                                 "\"b\":[-9223372036854775808,true,null,{}],\"c\":\"AP8Qeg==\"}");
}

static void base64_is_strict(void **state) {
    (void)state;
    char memory[16];
    struct buf buf;
    buf_init_fixed(&buf, memory, sizeof memory);
    assert_true(base64_decode(BYTES("AP8Qeg=="), &buf));
    assert_int_equal(buf.len, 4);
    assert_memory_equal(buf.ptr, "\x00\xff\x10z", 4);
    assert_false(base64_decode(BYTES("AP8Qeg="), &buf));
    assert_false(base64_decode(BYTES("A=8Q"), &buf));
    assert_false(base64_decode(BYTES("AP8*"), &buf));
}

static void members_that_are_not_there_are_null(void **state) {
    (void)state;
    static const struct bytes names[] = {{"a", 1}, {"b", 1}};
    char memory[256];
    struct buf buf;
    buf_init_fixed(&buf, memory, sizeof memory);
    struct json_out out = json_out(&buf);
    json_open(&out, '{');
    json_member_text(&out, "text", BYTES("x"));
    json_member_text(&out, "none", BYTES(""));
    json_member_number(&out, "number", 7);
    json_member_time(&out, "at", (struct wall){1000});
    json_member_time(&out, "never", WALL_NEVER);
    json_member_names(&out, "names", names, 2);
    json_member_names(&out, "nobody", NULL, 0);
    json_close(&out, '}');
    assert_bytes(buf_view(&buf), "{\"text\":\"x\",\"none\":null,\"number\":7,"
                                 "\"at\":\"1970-01-01T00:00:01.000Z\",\"never\":null,"
                                 "\"names\":[\"a\",\"b\"],\"nobody\":[]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rfc_8259_allows_is_taken),
        cmocka_unit_test(what_it_forbids_is_refused),
        cmocka_unit_test(what_is_odd_is_found_anywhere_in_a_long_string),
        cmocka_unit_test(an_error_names_line_and_column),
        cmocka_unit_test(deep_nesting_is_refused_without_recursion),
        cmocka_unit_test(values_are_slices_of_the_text),
        cmocka_unit_test(strings_are_decoded),
        cmocka_unit_test(keys_match_escaped_or_not_and_the_last_wins),
        cmocka_unit_test(whole_numbers_must_be_whole_and_fit),
        cmocka_unit_test(the_writer_puts_commas_and_escapes),
        cmocka_unit_test(base64_is_strict),
        cmocka_unit_test(members_that_are_not_there_are_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
