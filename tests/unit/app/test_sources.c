#include "app/sources.h"

#include "test.h"

static void a_consumer_group_is_found_where_the_url_alone_has_it(void **state) {
    (void)state;
    static const struct {
        const char *source, *group;
    } cases[] = {
        {"kafka://b1:9092,b2/orders?group=pricing", "pricing"},
        {"kafkas://b1/orders?group=a.b", "a.b"},
        {"builtin", ""},
        {"redis://h/0?stream=orders&group=g", ""}, /* its messages say so */
    };
    struct arena arena;
    arena_init_heap(&arena, 1024);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_bytes(sources_group(bytes_of(cases[i].source), &arena), cases[i].group);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_consumer_group_is_found_where_the_url_alone_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
