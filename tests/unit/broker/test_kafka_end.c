/* Lag behind what nobody is given. */
#include "broker/kafka_end.h"

#include "test.h"

#include "broker/kafka_hand.h"

static void put(struct kafka_hand *hand, int64_t offset, int64_t high) {
    struct kafka_hand_record record = {store_held_new(), offset, 1};
    kafka_hand_put(hand, 0, &record, 1, high);
}

static void a_marker_behind_the_last_record_is_no_lag(void **state) {
    (void)state;
    struct kafka_hand hand;
    kafka_hand_init(&hand);
    kafka_hand_assign(&hand, 0);
    put(&hand, 5, 7);
    assert_int_equal(kafka_hand_lag(&hand), 2); /* one at hand, and what follows it */
    kafka_end_reached(&hand, 0);
    assert_int_equal(kafka_hand_lag(&hand), 1);
    kafka_hand_seen(&hand, 0, -1, 9);
    assert_int_equal(kafka_hand_lag(&hand), 4);
    kafka_hand_free(&hand);
}

static void a_marker_may_be_all_that_there_is(void **state) {
    (void)state;
    struct kafka_hand hand;
    kafka_hand_init(&hand);
    kafka_hand_assign(&hand, 0);
    kafka_end_reached(&hand, 0);
    kafka_hand_seen(&hand, 0, 6, 7);
    assert_int_equal(kafka_hand_lag(&hand), 1);
    kafka_end_reached(&hand, 0);
    assert_int_equal(kafka_hand_lag(&hand), 0);
    kafka_hand_free(&hand);
}

static void of_what_is_not_ours_nothing_is_known(void **state) {
    (void)state;
    struct kafka_hand hand;
    kafka_hand_init(&hand);
    kafka_end_reached(&hand, 3);
    kafka_hand_watch(&hand, 0, 6, 7);
    kafka_end_reached(&hand, 0);
    assert_int_equal(kafka_hand_lag(&hand), 1);
    kafka_hand_free(&hand);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marker_behind_the_last_record_is_no_lag),
        cmocka_unit_test(a_marker_may_be_all_that_there_is),
        cmocka_unit_test(of_what_is_not_ours_nothing_is_known),
    };
    return cmocka_run_group_tests_name("kafka_end", tests, NULL, NULL);
}
