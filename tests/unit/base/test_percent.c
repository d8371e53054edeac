/* What percent-encoding stands for, and which is broken. */
#include "test.h"

#include "base/percent.h"

static void percent_encoding_is_undone_or_refused(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"plain", "plain"}, {"a%2Fb", "a/b"}, {"%c3%A9", "é"}, {"100%25", "100%"}, {"", ""},
        {"%", NULL},        {"a%2", NULL},    {"%zz", NULL},   {"a%2g", NULL},
    };
    struct arena arena;
    arena_init_heap(&arena, 256);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes out;
        bool decoded = percent_decode(bytes_of(rows[i][0]), &arena, &out);
        assert_int_equal(decoded, rows[i][1] != NULL);
        if (decoded)
            assert_bytes(out, rows[i][1]);
    }
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percent_encoding_is_undone_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
