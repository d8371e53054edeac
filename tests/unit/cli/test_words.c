/* Small things that turn what was typed or answered into words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/view/field.h"
#include "cli/path.h"
#include "cli/view/pretty.h"

enum { OUT_MAX = 1 << 16, CHUNK = 1024 };

static struct json parse(const char *text) {
    struct json json;
    assert_int_equal(json_parse(bytes_of(text), &json, NULL), STATUS_OK);
    return json;
}

static void what_was_typed_cannot_leave_its_place_in_an_address(void **state) {
    (void)state;
    struct path path;
    path_init(&path, "/v1/queues");
    path_segment(&path, "a/b?c#d ü..");
    path_argument(&path, "none", NULL);
    path_argument(&path, "q", "x&y=z");
    path_argument(&path, "limit", "5");
    assert_string_equal(path_text(&path),
                        "/v1/queues/a%2Fb%3Fc%23d%20%C3%BC..?q=x%26y%3Dz&limit=5");
    path_free(&path);
}

static void members_are_found_by_path_and_shown_as_text(void **state) {
    (void)state;
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    struct json object = parse(
        "{\"a\":{\"b\":\"x\\ny\"},\"n\":1.50,\"t\":true,\"z\":null,"
        "\"at\":\"2026-11-15T04:49:41.123Z\",\"ms\":90000,\"east\":\"2026-11-15T06:49:41+02:00\"}");
    assert_true(bytes_is(field_text(object, "a.b", &arena), "x\ny"));
    assert_true(bytes_is(field_text(object, "n", &arena), "1.50"));
    assert_true(bytes_is(field_text(object, "t", &arena), "true"));
    assert_int_equal(field_text(object, "z", &arena).len, 0);
    assert_int_equal(field_text(object, "a", &arena).len, 0);
    assert_int_equal(field_text(object, "a.b.c", &arena).len, 0);
    assert_int_equal(field_at(object, "x.y").type, JSON_NULL);
    assert_true(bytes_is(field_time(object, "at", &arena), "2026-11-15 04:49:41Z"));
    assert_true(bytes_is(field_time(object, "east", &arena), "2026-11-15 04:49:41Z"));
    assert_true(bytes_is(field_duration(object, "ms", &arena), "90s"));
    assert_int_equal(field_duration(object, "z", &arena).len, 0);
    arena_free(&arena);
}

static void ages_are_in_the_largest_unit_that_says_enough(void **state) {
    (void)state;
    static const struct {
        const char *json, *age;
    } cases[] = {
        {"{\"s\":0}", "0s"},      {"{\"s\":119}", "119s"},  {"{\"s\":120}", "2m"},
        {"{\"s\":7200.5}", "2h"}, {"{\"s\":172800}", "2d"}, {"{\"s\":null}", ""},
    };
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(bytes_is(field_age(parse(cases[i].json), "s", &arena), cases[i].age));
    arena_free(&arena);
}

static void json_is_laid_out_with_every_scalar_as_it_came(void **state) {
    (void)state;
    struct buf out;
    buf_init_heap(&out, OUT_MAX);
    pretty_json(&out, parse("{\"a\":[1.0,{}],\"b\":\"\\u001b\",\"c\":[]}"), 2, 100);
    assert_string_equal(buf_cstr(&out), "  {\n"
                                        "    \"a\": [\n"
                                        "      1.0,\n"
                                        "      {}\n"
                                        "    ],\n"
                                        "    \"b\": \"\\u001b\",\n"
                                        "    \"c\": []\n"
                                        "  }\n");
    buf_free(&out);
}

static size_t count_lines(struct bytes text) {
    size_t count = 0;
    for (struct bytes line; bytes_line(&text, &line);)
        count++;
    return count;
}

static void what_is_long_is_cut_and_says_so(void **state) {
    (void)state;
    struct buf out;
    buf_init_heap(&out, OUT_MAX);
    pretty_json(&out, parse("[[1,2],[3,4],[5,6]]"), 0, 4);
    assert_non_null(strstr(buf_cstr(&out), "there is more"));
    assert_int_equal(count_lines(buf_view(&out)), 5);
    buf_clear(&out);
    pretty_text(&out, BYTES("1\n\n3\n4\n"), 1, 3);
    assert_int_equal(count_lines(buf_view(&out)), 4);
    assert_non_null(strstr(buf_cstr(&out), "there is more"));
    buf_clear(&out);
    pretty_text(&out, BYTES("1\n\n3\n"), 1, 3);
    assert_string_equal(buf_cstr(&out), " 1\n \n 3\n");
    buf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_typed_cannot_leave_its_place_in_an_address),
        cmocka_unit_test(members_are_found_by_path_and_shown_as_text),
        cmocka_unit_test(ages_are_in_the_largest_unit_that_says_enough),
        cmocka_unit_test(json_is_laid_out_with_every_scalar_as_it_came),
        cmocka_unit_test(what_is_long_is_cut_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
