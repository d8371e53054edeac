#include <stdio.h>

#include "broker/common/returns.h"
#include "test.h"

static uint32_t given(struct returns *returns, const char *id, uint32_t deliveries) {
    struct message *held = message_new();
    held->envelope.id = bytes_of(id);
    held->deliveries = deliveries;
    returns_deduct(returns, held);
    uint32_t left = held->deliveries;
    message_free(held);
    return left;
}

static void what_we_gave_back_is_taken_off(void **state) {
    (void)state;
    struct returns returns;
    returns_init(&returns);
    assert_int_equal(given(&returns, "a", 3), 3);
    returns_note(&returns, BYTES("a"));
    returns_note(&returns, BYTES("a"));
    assert_int_equal(given(&returns, "a", 5), 3);
    assert_int_equal(given(&returns, "b", 5), 5);
    returns_free(&returns);
}

static void this_delivery_always_counts(void **state) {
    (void)state;
    struct returns returns;
    returns_init(&returns);
    for (int i = 0; i < 4; i++)
        returns_note(&returns, BYTES("a"));
    assert_int_equal(given(&returns, "a", 2), 1);
    assert_int_equal(given(&returns, "a", 0), 0); /* its source does not count */
    returns_free(&returns);
}

static void a_lost_connection_counts_once_for_each_id(void **state) {
    (void)state;
    struct returns returns;
    returns_init(&returns);
    returns_note_lost(&returns, BYTES("a"));
    returns_note_lost(&returns, BYTES("a")); /* an equal message */
    assert_int_equal(given(&returns, "a", 5), 4);
    returns_next_connection(&returns);
    returns_note_lost(&returns, BYTES("a"));
    assert_int_equal(given(&returns, "a", 5), 3);
    returns_free(&returns);
}

static void the_oldest_are_forgotten(void **state) {
    (void)state;
    struct returns returns;
    char id[32];
    returns_init(&returns);
    for (int i = 0; i <= RETURNS_MAX; i++) {
        snprintf(id, sizeof id, "m%d", i);
        returns_note(&returns, bytes_of(id));
    }
    assert_int_equal(given(&returns, "m0", 2), 2);
    assert_int_equal(given(&returns, "m1", 2), 1);
    assert_int_equal(given(&returns, id, 2), 1);
    returns_free(&returns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_we_gave_back_is_taken_off),
        cmocka_unit_test(this_delivery_always_counts),
        cmocka_unit_test(a_lost_connection_counts_once_for_each_id),
        cmocka_unit_test(the_oldest_are_forgotten),
    };
    return cmocka_run_group_tests_name("returns", tests, NULL, NULL);
}
