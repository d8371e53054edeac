/* Which Host and Origin are let in. */
#include "test.h"

#include "server/gate.h"
#include "server/url.h"

static void only_our_own_host_and_origin_are_let_in(void **state) {
    (void)state;
    static const struct {
        const char *listen, *host, *origin;
        enum status expected;
    } rows[] = {
        {"127.0.0.1", "127.0.0.1:7070", NULL, STATUS_OK},
        {"127.0.0.1", "localhost:7070", NULL, STATUS_OK},
        {"127.0.0.1", "LOCALHOST", NULL, STATUS_OK},
        {"127.0.0.1", "127.9.9.9:1", NULL, STATUS_OK},
        {"127.0.0.1", "[::1]:7070", NULL, STATUS_OK},
        {"127.0.0.1", NULL, NULL, STATUS_OK}, /* HTTP/1.0 */
        {"127.0.0.1", "evil.example:7070", NULL, STATUS_FORBIDDEN},
        {"127.0.0.1", "127.0.0.1.evil.example", NULL, STATUS_FORBIDDEN},
        {"127.0.0.1", "localhost.evil.example", NULL, STATUS_FORBIDDEN},
        {"127.0.0.1", "10.0.0.1:7070", NULL, STATUS_FORBIDDEN},
        {"127.0.0.1", "", NULL, STATUS_FORBIDDEN},
        {"impound.lan", "impound.lan:7070", NULL, STATUS_OK},
        {"10.0.0.1", "10.0.0.1:7070", NULL, STATUS_OK},
        {"0.0.0.0", "10.0.0.1:7070", NULL, STATUS_OK},
        {"0.0.0.0", "evil.example", NULL, STATUS_FORBIDDEN},
        {"127.0.0.1", "127.0.0.1:7070", "http://127.0.0.1:7070", STATUS_OK},
        {"127.0.0.1", "127.0.0.1:7070", "http://127.0.0.1:8080", STATUS_FORBIDDEN},
        {"127.0.0.1", "127.0.0.1:7070", "http://evil.example", STATUS_FORBIDDEN},
        {"127.0.0.1", "127.0.0.1:7070", "null", STATUS_FORBIDDEN},
        {"127.0.0.1", NULL, "http://evil.example", STATUS_FORBIDDEN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err;
        enum status status = gate_check(bytes_of(rows[i].listen), bytes_of(rows[i].host),
                                        bytes_of(rows[i].origin), &err);
        if (status != rows[i].expected)
            fail_msg("row %zu: %s", i, status_name(status));
    }
}

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
        bool decoded = url_decode(bytes_of(rows[i][0]), &arena, &out);
        assert_int_equal(decoded, rows[i][1] != NULL);
        if (decoded)
            assert_bytes(out, rows[i][1]);
    }
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_our_own_host_and_origin_are_let_in),
        cmocka_unit_test(percent_encoding_is_undone_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
