#include "test.h"

#include "base/text/content.h"

static void a_body_is_what_it_looks_like(void **state) {
    (void)state;
    static const struct {
        struct bytes body;
        const char *type;
    } cases[] = {
        {{"{\"a\":1}", 7}, "application/json"},
        {{"17", 2}, "application/json"},
        {{"{\"a\":", 5}, "text/plain; charset=utf-8"},
        {{"gr\xc3\xbc\xc3\x9f", 6}, "text/plain; charset=utf-8"},
        {{"", 0}, "text/plain; charset=utf-8"},
        {{"\xff\x00", 2}, "application/octet-stream"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_bytes(content_looks(cases[i].body), cases[i].type);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_body_is_what_it_looks_like)};
    return cmocka_run_group_tests_name("content", tests, NULL, NULL);
}
