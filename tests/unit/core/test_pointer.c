/* What a source says of a message that was pointed at. */
#include "core/pointer.h"

#include "test.h"

static void whether_it_is_gone_or_another_and_why(void **state) {
    (void)state;
    static const struct {
        const char *source, *why; /* NULL: it is neither gone nor in doubt */
        bool doubtful;
    } cases[] = {
        {"{\"kind\":\"kafka\",\"offset\":1}", NULL, false},
        {"{\"kind\":\"kafka\",\"origin\":{\"offset\":1}}", NULL, false},
        {"{\"kind\":\"kafka\",\"origin\":{\"gone\":true,\"why\":\"no such topic\"}}",
         "no such topic", false},
        {"{\"kind\":\"kafka\",\"gone\":true,\"why\":\"no such topic\"}", "no such topic", false},
        {"{\"kind\":\"nats\",\"origin\":{\"gone\":true}}",
         "the message was deleted before it could be read", false},
        {"{\"kind\":\"kafka\",\"origin\":{\"why\":\"younger\"}}", "younger", true},
        {"{\"kind\":\"kafka\",\"why\":\"younger\"}", "younger", true},
        {"no JSON", NULL, false},
        {"", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        struct bytes source = bytes_of(cases[i].source);
        arena_init_heap(&arena, 256);
        assert_true(pointer_is_gone(source) == (cases[i].why && !cases[i].doubtful));
        assert_true(pointer_is_doubtful(source) == cases[i].doubtful);
        if (cases[i].why)
            assert_bytes(pointer_why(source, &arena), cases[i].why);
        arena_free(&arena);
    }
}

static void an_edit_gives_it_a_body(void **state) {
    (void)state;
    struct envelope envelope = {.source = BYTES("{\"gone\":true}")};
    assert_true(pointer_is_empty(&envelope));
    envelope.size = 2;
    assert_false(pointer_is_empty(&envelope));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whether_it_is_gone_or_another_and_why),
        cmocka_unit_test(an_edit_gives_it_a_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
