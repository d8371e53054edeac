/* Against a store that notes what it was asked: the built-in queue adds nothing of its own. */
#include "test.h"

#include "broker/builtin/builtin.h"

enum { QUEUE = 7 };

struct noting_store {
    struct store store;
    enum store_take which;
    struct instant now;
    struct message *waiting, *given_back;
    struct mono due;
    struct store_queue_counts counts;
};

static size_t take(struct store *store, uint32_t queue, enum store_take which, struct instant now,
                   struct message **out, size_t max) {
    struct noting_store *noting = (struct noting_store *)(void *)store;
    assert_int_equal(queue, QUEUE);
    noting->which = which;
    noting->now = now;
    if (!noting->waiting || max == 0)
        return 0;
    *out = noting->waiting;
    noting->waiting = NULL;
    return 1;
}

static void give_back(struct store *store, struct message *held_take, struct mono due) {
    struct noting_store *noting = (struct noting_store *)(void *)store;
    noting->given_back = held_take;
    noting->due = due;
}

static struct mono next_ready(struct store *store, uint32_t queue, enum store_take which) {
    (void)store;
    assert_int_equal(queue, QUEUE);
    assert_int_equal(which, TAKE_READY);
    return (struct mono){1234};
}

static void counts(struct store *store, uint32_t queue, struct store_queue_counts *out) {
    assert_int_equal(queue, QUEUE);
    *out = ((struct noting_store *)(void *)store)->counts;
}

static const struct store_vtable noting_vtable = {
    .kind = "noting",
    .take = take,
    .give_back = give_back,
    .next_ready = next_ready,
    .counts = counts,
};

static void it_receives_what_is_ready_and_hands_back_what_was_not_attempted(void **state) {
    (void)state;
    struct noting_store noting = {.store = {&noting_vtable}, .waiting = message_new()};
    struct message *sent = noting.waiting, *held[4];
    struct broker *broker = builtin_new(&noting.store, QUEUE);
    assert_string_equal(broker->vtable->kind, "builtin");
    struct instant now = {{5000}, {77}};
    assert_int_equal(broker->vtable->receive(broker, now, held, 4), 1);
    assert_ptr_equal(held[0], sent);
    assert_int_equal(noting.which, TAKE_READY);
    assert_int_equal(noting.now.mono.ms, 77);
    assert_int_equal(broker->vtable->receive(broker, now, held, 4), 0);
    broker->vtable->settle(broker, sent);
    assert_null(noting.given_back);
    broker->vtable->hand_back(broker, sent, now);
    assert_ptr_equal(noting.given_back, sent);
    assert_int_equal(noting.due.ms, 77);
    assert_int_equal(broker->vtable->next_wake(broker).ms, 1234);
    broker->vtable->free(broker);
    message_free(sent);
}

static void what_is_delayed_is_no_lag(void **state) {
    (void)state;
    struct noting_store noting = {
        .store = {&noting_vtable},
        .counts = {.queued = 10, .delayed = 4, .pending_retry = 100, .taken = 100},
    };
    struct broker *broker = builtin_new(&noting.store, QUEUE);
    assert_int_equal(broker->vtable->lag(broker), 6);
    noting.counts.delayed = 11; /* read while it changed */
    assert_int_equal(broker->vtable->lag(broker), 0);
    broker->vtable->free(broker);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_receives_what_is_ready_and_hands_back_what_was_not_attempted),
        cmocka_unit_test(what_is_delayed_is_no_lag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
