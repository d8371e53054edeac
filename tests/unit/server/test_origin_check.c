/* Which Host and Origin are let in. */
#include "test.h"

#include "server/http/origin_check.h"

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
        enum status status = origin_check(bytes_of(rows[i].listen), bytes_of(rows[i].host),
                                          bytes_of(rows[i].origin), &err);
        if (status != rows[i].expected)
            fail_msg("row %zu: %s", i, status_name(status));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_our_own_host_and_origin_are_let_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
