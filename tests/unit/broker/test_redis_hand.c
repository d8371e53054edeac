#include "test.h"

#include "broker/redis/redis_hand.h"

static const struct mono now = {1000};

static void add(struct redis_hand *hand, const char *tag, bool redelivered) {
    struct message *held = message_new();
    held->envelope.id = arena_dup(&held->arena, bytes_of(tag));
    held->redelivered = redelivered;
    held->deliveries = redelivered ? 3 : 1;
    redis_hand_add(hand, bytes_of(tag), held);
}

static struct message *receive(struct redis_hand *hand, const char *id) {
    struct message *held;
    assert_int_equal(redis_hand_receive(hand, now, &held, 1), 1);
    assert_bytes(held->envelope.id, id);
    return held;
}

static void what_is_settled_is_known_until_it_is_forgotten(void **state) {
    (void)state;
    struct redis_hand hand;
    struct redis_item *items[4];
    redis_hand_init(&hand, &(struct broker_options){.max_body = 1});
    add(&hand, "a", false);
    add(&hand, "b", false);
    assert_int_equal(redis_hand_waiting(&hand), 2);
    struct message *a = receive(&hand, "a"), *b = receive(&hand, "b");
    assert_int_equal(redis_hand_settled(&hand, items, 4), 0);
    redis_hand_settle(&hand, b);
    message_free(b);
    assert_int_equal(redis_hand_settled(&hand, items, 4), 1);
    assert_int_equal(redis_hand_settled(&hand, items, 4), 1);
    assert_bytes(items[0]->tag, "b");
    redis_hand_forget(&hand, items, 1);
    assert_false(redis_hand_knows(&hand, BYTES("b")));
    assert_true(redis_hand_knows(&hand, BYTES("a")));
    message_free(a); /* the engine is freed without settling */
    redis_hand_free(&hand);
}

static void what_is_handed_back_waits_behind_and_for_its_time(void **state) {
    (void)state;
    struct redis_hand hand;
    struct message *held;
    redis_hand_init(&hand, &(struct broker_options){.max_body = 1});
    add(&hand, "a", false);
    add(&hand, "b", false);
    redis_hand_back(&hand, receive(&hand, "a"), (struct mono){1500});
    held = receive(&hand, "b");
    redis_hand_back(&hand, held, (struct mono){1000});
    held = receive(&hand, "b");
    message_free(held);
    assert_int_equal(redis_hand_receive(&hand, now, &held, 1), 0);
    assert_int_equal(redis_hand_next(&hand).ms, 1500);
    assert_int_equal(redis_hand_receive(&hand, (struct mono){1500}, &held, 1), 1);
    message_free(held);
    assert_int_equal(redis_hand_next(&hand).ms, MONO_NEVER.ms);
    redis_hand_free(&hand);
}

/* Back at the server it would no longer be known to have been given before. */
static void what_was_given_in_another_life_is_not_withdrawn(void **state) {
    (void)state;
    struct redis_hand hand;
    struct redis_item *items[4];
    redis_hand_init(&hand, &(struct broker_options){.max_body = 1});
    add(&hand, "old", true);
    add(&hand, "a", false);
    add(&hand, "b", false);
    assert_int_equal(redis_hand_withdraw(&hand, items, 4), 2);
    assert_bytes(items[0]->tag, "b");
    assert_bytes(items[1]->tag, "a");
    redis_hand_forget(&hand, items, 1);
    redis_hand_keep(&hand, items[1]);
    assert_int_equal(redis_hand_waiting(&hand), 2);
    struct message *a = receive(&hand, "a");
    message_free(a);
    redis_hand_free(&hand);
}

static void what_is_given_again_is_counted_once(void **state) {
    (void)state;
    struct redis_hand hand;
    struct redis_recount counts[4];
    struct arena arena;
    arena_init_heap(&arena, 256);
    redis_hand_init(&hand, &(struct broker_options){.max_body = 1});
    add(&hand, "old", true);
    add(&hand, "new", false);
    assert_int_equal(redis_hand_recount(&hand, &arena, counts, 4), 0);
    struct message *old = receive(&hand, "old"), *new = receive(&hand, "new");
    assert_int_equal(redis_hand_recount(&hand, &arena, counts, 4), 1);
    assert_bytes(counts[0].tag, "old");
    assert_int_equal(counts[0].deliveries, 3);
    redis_hand_back(&hand, old, now);
    old = receive(&hand, "old");
    assert_int_equal(redis_hand_recount(&hand, &arena, counts, 4), 0);
    struct bytes *tags;
    assert_int_equal(redis_hand_tags(&hand, &arena, &tags), 2);
    message_free(old);
    message_free(new);
    redis_hand_free(&hand);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_settled_is_known_until_it_is_forgotten),
        cmocka_unit_test(what_is_handed_back_waits_behind_and_for_its_time),
        cmocka_unit_test(what_was_given_in_another_life_is_not_withdrawn),
        cmocka_unit_test(what_is_given_again_is_counted_once),
    };
    return cmocka_run_group_tests_name("redis_hand", tests, NULL, NULL);
}
