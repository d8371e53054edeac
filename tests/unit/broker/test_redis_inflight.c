#include "test.h"

#include "broker/redis/redis_inflight.h"

static const struct mono now = {1000};

static void add(struct redis_inflight *inflight, const char *tag, bool redelivered) {
    struct message *held = message_new();
    held->envelope.id = arena_dup(&held->arena, bytes_of(tag));
    held->redelivered = redelivered;
    held->deliveries = redelivered ? 3 : 1;
    redis_inflight_add(inflight, bytes_of(tag), held);
}

static struct message *receive(struct redis_inflight *inflight, const char *id) {
    struct message *held;
    assert_int_equal(redis_inflight_receive(inflight, now, &held, 1), 1);
    assert_bytes(held->envelope.id, id);
    return held;
}

static void what_is_settled_is_known_until_it_is_forgotten(void **state) {
    (void)state;
    struct redis_inflight inflight;
    struct redis_item *items[4];
    redis_inflight_init(&inflight, &(struct broker_options){.max_body = 1});
    add(&inflight, "a", false);
    add(&inflight, "b", false);
    assert_int_equal(redis_inflight_waiting(&inflight), 2);
    struct message *a = receive(&inflight, "a"), *b = receive(&inflight, "b");
    assert_int_equal(redis_inflight_settled(&inflight, items, 4), 0);
    redis_inflight_settle(&inflight, b);
    message_free(b);
    assert_int_equal(redis_inflight_settled(&inflight, items, 4), 1);
    assert_int_equal(redis_inflight_settled(&inflight, items, 4), 1);
    assert_bytes(items[0]->tag, "b");
    redis_inflight_forget(&inflight, items, 1);
    assert_false(redis_inflight_knows(&inflight, BYTES("b")));
    assert_true(redis_inflight_knows(&inflight, BYTES("a")));
    message_free(a); /* the engine is freed without settling */
    redis_inflight_free(&inflight);
}

static void what_is_handed_back_waits_behind_and_for_its_time(void **state) {
    (void)state;
    struct redis_inflight inflight;
    struct message *held;
    redis_inflight_init(&inflight, &(struct broker_options){.max_body = 1});
    add(&inflight, "a", false);
    add(&inflight, "b", false);
    redis_inflight_hand_back(&inflight, receive(&inflight, "a"), (struct mono){1500});
    held = receive(&inflight, "b");
    redis_inflight_hand_back(&inflight, held, (struct mono){1000});
    held = receive(&inflight, "b");
    message_free(held);
    assert_int_equal(redis_inflight_receive(&inflight, now, &held, 1), 0);
    assert_int_equal(redis_inflight_next(&inflight).ms, 1500);
    assert_int_equal(redis_inflight_receive(&inflight, (struct mono){1500}, &held, 1), 1);
    message_free(held);
    assert_int_equal(redis_inflight_next(&inflight).ms, MONO_NEVER.ms);
    redis_inflight_free(&inflight);
}

/* Back at the server it would no longer be known to have been given before. */
static void what_was_given_in_another_life_is_not_withdrawn(void **state) {
    (void)state;
    struct redis_inflight inflight;
    struct redis_item *items[4];
    redis_inflight_init(&inflight, &(struct broker_options){.max_body = 1});
    add(&inflight, "old", true);
    add(&inflight, "a", false);
    add(&inflight, "b", false);
    assert_int_equal(redis_inflight_withdraw(&inflight, items, 4), 2);
    assert_bytes(items[0]->tag, "b");
    assert_bytes(items[1]->tag, "a");
    redis_inflight_forget(&inflight, items, 1);
    redis_inflight_keep(&inflight, items[1]);
    assert_int_equal(redis_inflight_waiting(&inflight), 2);
    struct message *a = receive(&inflight, "a");
    message_free(a);
    redis_inflight_free(&inflight);
}

static void what_is_given_again_is_counted_once(void **state) {
    (void)state;
    struct redis_inflight inflight;
    struct redis_recount counts[4];
    struct arena arena;
    arena_init_heap(&arena, 256);
    redis_inflight_init(&inflight, &(struct broker_options){.max_body = 1});
    add(&inflight, "old", true);
    add(&inflight, "new", false);
    assert_int_equal(redis_inflight_recount(&inflight, &arena, counts, 4), 0);
    struct message *old = receive(&inflight, "old"), *new = receive(&inflight, "new");
    assert_int_equal(redis_inflight_recount(&inflight, &arena, counts, 4), 1);
    assert_bytes(counts[0].tag, "old");
    assert_int_equal(counts[0].deliveries, 3);
    redis_inflight_hand_back(&inflight, old, now);
    old = receive(&inflight, "old");
    assert_int_equal(redis_inflight_recount(&inflight, &arena, counts, 4), 0);
    struct bytes *tags;
    assert_int_equal(redis_inflight_tags(&inflight, &arena, &tags), 2);
    message_free(old);
    message_free(new);
    redis_inflight_free(&inflight);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_settled_is_known_until_it_is_forgotten),
        cmocka_unit_test(what_is_handed_back_waits_behind_and_for_its_time),
        cmocka_unit_test(what_was_given_in_another_life_is_not_withdrawn),
        cmocka_unit_test(what_is_given_again_is_counted_once),
    };
    return cmocka_run_group_tests_name("redis_inflight", tests, NULL, NULL);
}
