#include "base/text/traceparent.h"

#include "test.h"

/* The example of the specification. */
#define TRACE   "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN    "00f067aa0ba902b7"
#define EXAMPLE "00-" TRACE "-" SPAN "-01"

static void the_specifications_example_is_read_and_written(void **state) {
    (void)state;
    static const unsigned char trace[] = {0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6,
                                          0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36};
    static const unsigned char span[] = {0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7};
    struct traceparent parent;
    char text[TRACEPARENT_TEXT_SIZE], hex[2 * TRACE_ID_SIZE + 1];
    assert_true(traceparent_parse(BYTES(EXAMPLE), &parent));
    assert_memory_equal(parent.trace_id, trace, sizeof trace);
    assert_memory_equal(parent.span_id, span, sizeof span);
    assert_int_equal(parent.flags, TRACEPARENT_SAMPLED);
    assert_string_equal(traceparent_text(&parent, text), EXAMPLE);
    assert_string_equal(traceparent_hex(parent.trace_id, TRACE_ID_SIZE, hex), TRACE);
}

static void white_space_around_it_is_none_of_it(void **state) {
    (void)state;
    struct traceparent parent;
    assert_true(traceparent_parse(BYTES(" " EXAMPLE "\t"), &parent));
}

static void of_a_later_version_the_known_part_is_read(void **state) {
    (void)state;
    struct traceparent parent;
    assert_true(traceparent_parse(BYTES("01-" TRACE "-" SPAN "-03-more"), &parent));
    assert_int_equal(parent.flags, 3);
    assert_true(traceparent_parse(BYTES("cc-" TRACE "-" SPAN "-00"), &parent));
    assert_false(traceparent_parse(BYTES("cc-" TRACE "-" SPAN "-00.more"), &parent));
}

static void what_is_none_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        "00",
        "00-" TRACE "-" SPAN,
        "00-" TRACE "-" SPAN "-1",
        EXAMPLE "-more",
        EXAMPLE ".",
        "ff-" TRACE "-" SPAN "-01",
        "0-" TRACE "-" SPAN "-01x",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-" SPAN "-01",
        "00-" TRACE "-" SPAN "-0x",
        "00_" TRACE "-" SPAN "-01",
        "00-" TRACE "_" SPAN "-01",
        "00-" TRACE "-" SPAN "_01",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
    };
    static const struct traceparent none = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct traceparent parent = {.flags = 1};
        assert_false(traceparent_parse(bytes_of(wrong[i]), &parent));
        assert_memory_equal(&parent, &none, sizeof none);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_specifications_example_is_read_and_written),
        cmocka_unit_test(white_space_around_it_is_none_of_it),
        cmocka_unit_test(of_a_later_version_the_known_part_is_read),
        cmocka_unit_test(what_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
