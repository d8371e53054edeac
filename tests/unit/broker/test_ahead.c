#include "broker/common/ahead.h"
#include "test.h"

enum { MIB = 1 << 20, LIMIT = 16 * MIB };

static struct message *note(struct ahead *ahead, size_t bytes) {
    struct message *held = message_new();
    held->body = (struct bytes){arena_alloc(&held->arena, bytes), bytes};
    ahead_note(ahead, held);
    return held;
}

static void no_more_is_asked_for_than_a_quarter_of_the_limit_holds(void **state) {
    (void)state;
    struct body_memory *memory = body_memory_new(LIMIT);
    struct ahead ahead;
    ahead_init(&ahead, &(struct broker_options){.memory = memory, .max_body = MIB});
    assert_int_equal(ahead_count(&ahead, 0, 0, 100), 4); /* of max_body each */
    assert_int_equal(ahead_count(&ahead, 3, 0, 100), 1);
    assert_int_equal(ahead_count(&ahead, 0, 0, 2), 2);
    struct message *held = note(&ahead, 2 * MIB);
    assert_int_equal(body_memory_used(memory, BODY_MEMORY_MESSAGES), 2 * MIB);
    assert_int_equal(ahead_count(&ahead, 0, 1, 100), 1); /* a larger one than usual is believed */
    struct message *another = note(&ahead, 2 * MIB);
    assert_int_equal(ahead_count(&ahead, 0, 2, 100), 0);
    message_free(held);
    message_free(another);
    assert_int_equal(body_memory_used(memory, BODY_MEMORY_MESSAGES), 0);
    assert_int_equal(ahead_count(&ahead, 0, 0, 100), 2);
    body_memory_free(memory);
}

static void small_bodies_let_many_be_asked_for(void **state) {
    (void)state;
    struct body_memory *memory = body_memory_new(LIMIT);
    struct ahead ahead;
    ahead_init(&ahead, &(struct broker_options){.memory = memory, .max_body = MIB});
    for (int i = 0; i < 200; i++)
        message_free(note(&ahead, 100));
    assert_int_equal(ahead_count(&ahead, 0, 0, 512), 512);
    for (int i = 0; i < 1000; i++)
        message_free(note(&ahead, 0));
    assert_int_equal(ahead_count(&ahead, 0, 0, 512), 512);
    body_memory_free(memory);
}

static void a_source_with_nothing_at_hand_may_ask_for_one(void **state) {
    (void)state;
    struct body_memory *memory = body_memory_new(LIMIT);
    struct ahead ahead;
    ahead_init(&ahead, &(struct broker_options){.memory = memory, .max_body = 64 * MIB});
    body_memory_add(memory, BODY_MEMORY_MESSAGES, LIMIT);
    assert_int_equal(ahead_count(&ahead, 0, 0, 100), 1);
    assert_int_equal(ahead_count(&ahead, 1, 0, 100), 0);
    assert_int_equal(ahead_count(&ahead, 0, 1, 100), 0);
    body_memory_sub(memory, BODY_MEMORY_MESSAGES, LIMIT);
    body_memory_free(memory);
}

static void without_a_limit_all_may_be_asked_for(void **state) {
    (void)state;
    struct ahead ahead;
    ahead_init(&ahead, &(struct broker_options){.max_body = MIB});
    message_free(note(&ahead, 2 * MIB));
    assert_int_equal(ahead_count(&ahead, 50, 50, 100), 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_is_asked_for_than_a_quarter_of_the_limit_holds),
        cmocka_unit_test(small_bodies_let_many_be_asked_for),
        cmocka_unit_test(a_source_with_nothing_at_hand_may_ask_for_one),
        cmocka_unit_test(without_a_limit_all_may_be_asked_for),
    };
    return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
