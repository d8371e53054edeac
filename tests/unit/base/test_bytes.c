#include "test.h"

#include "base/buf.h"

static void globs_ignore_case_and_match_runs(void **state) {
    (void)state;
    assert_true(bytes_glob(BYTES("*timeout*"), BYTES("ReadTimeoutError")));
    assert_true(bytes_glob(BYTES("Connection*"), BYTES("ConnectionResetError")));
    assert_true(bytes_glob(BYTES("*"), BYTES("")));
    assert_true(bytes_glob(BYTES("a*b*c"), BYTES("aXbYbZc")));
    assert_false(bytes_glob(BYTES("KeyError"), BYTES("KeyErrors")));
    assert_false(bytes_glob(BYTES("a*b"), BYTES("abc")));
}

static void lines_are_cut_with_either_ending(void **state) {
    (void)state;
    struct bytes rest = BYTES("a\r\n\nb"), line;
    assert_true(bytes_line(&rest, &line));
    assert_bytes(line, "a");
    assert_true(bytes_line(&rest, &line));
    assert_bytes(line, "");
    assert_true(bytes_line(&rest, &line));
    assert_bytes(line, "b");
    assert_false(bytes_line(&rest, &line));
}

static void clipping_never_splits_a_character(void **state) {
    (void)state;
    assert_bytes(bytes_clip(BYTES("a\xc3\xa9z"), 2), "a");
    assert_bytes(bytes_clip(BYTES("a\xc3\xa9z"), 3), "a\xc3\xa9");
    assert_bytes(bytes_clip(BYTES("abc"), 9), "abc");
}

static void numbers_are_whole_and_fit(void **state) {
    (void)state;
    uint64_t n;
    assert_true(bytes_u64(BYTES("18446744073709551615"), &n) && n == UINT64_MAX);
    assert_false(bytes_u64(BYTES("18446744073709551616"), &n));
    assert_false(bytes_u64(BYTES(""), &n));
    assert_false(bytes_u64(BYTES("1a"), &n));
}

static void a_fixed_buf_overflows_once_and_for_all(void **state) {
    (void)state;
    char memory[4];
    struct buf buf;
    buf_init_fixed(&buf, memory, sizeof memory);
    buf_str(&buf, "abc");
    buf_str(&buf, "de");
    buf_str(&buf, "f");
    assert_true(buf.overflow);
    assert_bytes(buf_view(&buf), "abc");
}

static void a_small_maximum_is_kept(void **state) {
    (void)state;
    struct buf buf;
    buf_init_heap(&buf, 10);
    buf_str(&buf, "0123456789");
    assert_false(buf.overflow);
    buf_char(&buf, 'x');
    assert_true(buf.overflow);
    assert_int_equal(buf.len, 10);
    buf_free(&buf);
}

static void a_heap_buf_grows_to_its_maximum(void **state) {
    (void)state;
    struct buf buf;
    buf_init_heap(&buf, 1000);
    for (int i = 0; i < 100; i++)
        buf_printf(&buf, "%010d", i);
    assert_false(buf.overflow);
    assert_int_equal(buf.len, 1000);
    assert_int_equal(strlen(buf_cstr(&buf)), 1000);
    buf_char(&buf, 'x');
    assert_true(buf.overflow);
    buf_free(&buf);
}

static void numbers_are_written_in_decimal(void **state) {
    (void)state;
    struct buf buf;
    char memory[64];
    buf_init_fixed(&buf, memory, sizeof memory);
    buf_i64(&buf, 0);
    buf_char(&buf, ' ');
    buf_i64(&buf, INT64_MAX);
    buf_char(&buf, ' ');
    buf_i64(&buf, INT64_MIN);
    assert_string_equal(buf_cstr(&buf), "0 9223372036854775807 -9223372036854775808");
}

static void the_character_at_the_front_is_measured(void **state) {
    (void)state;
    assert_int_equal(bytes_utf8_front(BYTES("ab")), 1);
    assert_int_equal(bytes_utf8_front(BYTES("\0")), 1);
    assert_int_equal(bytes_utf8_front(BYTES("\xc3\xa4"
                                            "b")),
                     2);
    assert_int_equal(bytes_utf8_front(BYTES("\xe2\x82\xac")), 3);
    assert_int_equal(bytes_utf8_front(BYTES("\xf0\x9f\x9a\x97")), 4);
}

/* Cut short, a lone continuation, overlong, a surrogate, above U+10FFFF. */
static void what_is_no_character_has_no_length(void **state) {
    (void)state;
    static const char *const wrong[] = {"\xc3",         "\xa4",         "\xc0\x80",
                                        "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(bytes_utf8_front(bytes_of(wrong[i])), 0);
    assert_int_equal(bytes_utf8_front(BYTES_NONE), 0);
}

/* Around a block of 32 bytes and a word of 8. */
static void every_byte_and_the_length_are_in_a_print(void **state) {
    (void)state;
    char text[70] = {0};
    for (size_t len = 0; len < sizeof text; len++) {
        uint64_t before = bytes_print((struct bytes){text, len});
        assert_true(before == bytes_print((struct bytes){text, len}));
        assert_true(before != bytes_print((struct bytes){text, len + 1}));
        for (size_t i = 0; i < len; i++) {
            text[i] ^= (char)0x80;
            assert_true(before != bytes_print((struct bytes){text, len}));
            for (size_t other = i + 1; other < len; other++) {
                text[other] ^= (char)0x80;
                assert_true(before != bytes_print((struct bytes){text, len}));
                text[other] ^= (char)0x80;
            }
            text[i] ^= (char)0x80;
        }
    }
    assert_true(bytes_print(BYTES_NONE) == bytes_print(BYTES("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_ignore_case_and_match_runs),
        cmocka_unit_test(lines_are_cut_with_either_ending),
        cmocka_unit_test(clipping_never_splits_a_character),
        cmocka_unit_test(numbers_are_whole_and_fit),
        cmocka_unit_test(a_fixed_buf_overflows_once_and_for_all),
        cmocka_unit_test(a_small_maximum_is_kept),
        cmocka_unit_test(a_heap_buf_grows_to_its_maximum),
        cmocka_unit_test(numbers_are_written_in_decimal),
        cmocka_unit_test(the_character_at_the_front_is_measured),
        cmocka_unit_test(what_is_no_character_has_no_length),
        cmocka_unit_test(every_byte_and_the_length_are_in_a_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
