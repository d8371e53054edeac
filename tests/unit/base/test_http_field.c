#include "base/text/http_field.h"

#include "test.h"

static void a_name_is_a_token(void **state) {
    (void)state;
    assert_true(http_field_is_name(BYTES("X-Api-Key")));
    assert_true(http_field_is_name(BYTES("!#$%&'*+-.^_`|~09azAZ")));
}

static void separators_spaces_controls_and_nothing_are_no_name(void **state) {
    (void)state;
    static const struct bytes wrong[] = {{"", 0},     {"a b", 3}, {"a:", 2},    {"a\r\nb", 4},
                                         {"a\0b", 3}, {"(a)", 3}, {"a\x7f", 2}, {"\xc3\xa4", 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(http_field_is_name(wrong[i]));
    assert_false(http_field_is_name(BYTES_NONE));
}

static void a_value_is_anything_on_one_line(void **state) {
    (void)state;
    assert_true(http_field_is_value(BYTES_NONE));
    assert_true(http_field_is_value(BYTES("two words,\tand \xc3\xa4")));
    assert_false(http_field_is_value(BYTES("a\nHost: b")));
    assert_false(http_field_is_value(BYTES("a\r")));
    assert_false(http_field_is_value(BYTES("a\0b")));
    assert_false(http_field_is_value(BYTES("\x7f")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_a_token),
        cmocka_unit_test(separators_spaces_controls_and_nothing_are_no_name),
        cmocka_unit_test(a_value_is_anything_on_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
