#include "broker/sources.h"

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

static void a_url_says_in_which_place_messages_lie(void **state) {
    (void)state;
    static const struct {
        const char *source, *member, *name;
    } cases[] = {
        {"kafka://b1:9092,b2/orders?group=pricing", "topic", "orders"},
        {"redis://:p@h/0?list=q:main", "list", "q:main"},
        {"redis://h/0?stream=orders&group=g", "stream", "orders"},
        {"amqp://h/shop?queue=a%2Fb&prefetch=9", "queue", "a/b"},
        {"nats://h?stream=ORDERS&consumer=c", "stream", "ORDERS"},
        {"builtin", "topic", ""},
    };
    struct arena arena;
    const char *member;
    arena_init_heap(&arena, 1024);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes name = sources_place(bytes_of(cases[i].source), &arena, &member);
        assert_bytes(name, cases[i].name);
        assert_string_equal(member, cases[i].member);
    }
    arena_free(&arena);
}

static void one_server_may_be_written_in_more_than_one_way(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"redis://h?list=x", "redis://:p@h/0?list=y", true},
        {"redis://h?list=x", "redis://h/1?list=x", false},
        {"amqp://h?queue=x", "amqp://h/%2F?queue=y", true},
        {"amqp://h?queue=x", "amqp://h/shop?queue=x", false},
        {"kafka://b1:9092,b2/x?group=g", "kafka://b2,b1:9092/y?group=g", true},
        {"kafka://b1,b2/x?group=g", "kafka://b1,b3/x?group=g", false},
        {"nats://a,b?stream=X", "nats://b,a?stream=Y", true},
    };
    struct arena arena;
    arena_init_heap(&arena, 1024);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes a = sources_server(bytes_of(cases[i].a), &arena);
        struct bytes b = sources_server(bytes_of(cases[i].b), &arena);
        if (bytes_eq(a, b) != cases[i].same)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_consumer_group_is_found_where_the_url_alone_has_it),
        cmocka_unit_test(a_url_says_in_which_place_messages_lie),
        cmocka_unit_test(one_server_may_be_written_in_more_than_one_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
