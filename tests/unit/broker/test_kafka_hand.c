/* What a Kafka source has at hand, without a network. */
#include "test.h"

#include "broker/kafka/kafka_hand.h"

enum { LOG_END = 1000 };

static const struct mono now = {5000};

static uint64_t print_of(int64_t offset) {
    return (uint64_t)offset + 77;
}

static bool put(struct kafka_hand *hand, int32_t number, int64_t offset, size_t size) {
    struct message *held = message_new();
    held->body = (struct bytes){arena_alloc(&held->arena, size + 1), size};
    struct kafka_hand_record record = {held, offset, print_of(offset)};
    return kafka_hand_put(hand, number, &record, 1, LOG_END) == 1;
}

static struct message *receive_one(struct kafka_hand *hand, struct mono at) {
    struct message *held = NULL;
    size_t count;
    kafka_hand_receive(hand, at, &held, 1, &count);
    return count ? held : NULL;
}

static int64_t offset_of(const struct message *held) {
    return ((const struct kafka_item *)held->source)->offset;
}

static void settle(struct kafka_hand *hand, struct message *held) {
    kafka_hand_settle(hand, held);
    message_free(held);
}

static void start(struct kafka_hand *hand, int32_t partitions) {
    kafka_hand_init(hand);
    for (int32_t number = 0; number < partitions; number++)
        kafka_hand_assign(hand, number);
}

static void only_what_is_settled_is_committed_and_only_once(void **state) {
    (void)state;
    struct kafka_hand hand;
    struct kafka_hand_commit commits[4];
    start(&hand, 2);
    assert_true(put(&hand, 0, 10, 1) && put(&hand, 0, 11, 1) && put(&hand, 1, 20, 1));
    struct message *first = receive_one(&hand, now), *second = receive_one(&hand, now),
                   *other = receive_one(&hand, now);
    assert_int_equal(kafka_hand_commits(&hand, commits, 4), 0);
    settle(&hand, second);
    settle(&hand, other);
    assert_true(kafka_hand_has_settled(&hand));
    assert_int_equal(kafka_hand_commits(&hand, commits, 4), 1);
    assert_int_equal(commits[0].number, 1);
    assert_int_equal(commits[0].offset, 21);
    kafka_hand_committed(&hand, 1, 21);
    assert_int_equal(kafka_hand_commits(&hand, commits, 4), 0);
    assert_false(kafka_hand_has_settled(&hand));
    settle(&hand, first);
    assert_int_equal(kafka_hand_commits(&hand, commits, 4), 1);
    assert_int_equal(commits[0].number, 0);
    assert_int_equal(commits[0].offset, 12);
    kafka_hand_free(&hand);
}

static void what_is_handed_back_comes_behind_and_not_before_its_time(void **state) {
    (void)state;
    struct kafka_hand hand;
    start(&hand, 1);
    put(&hand, 0, 0, 1);
    put(&hand, 0, 1, 1);
    struct mono later = mono_after(now, 100);
    kafka_hand_back(&hand, receive_one(&hand, now), later);
    struct message *next = receive_one(&hand, now);
    assert_int_equal(offset_of(next), 1);
    assert_null(receive_one(&hand, now));
    assert_int_equal(kafka_hand_next_wake(&hand).ms, later.ms);
    struct message *again = receive_one(&hand, later);
    assert_int_equal(offset_of(again), 0);
    assert_int_equal(kafka_hand_next_wake(&hand).ms, MONO_NEVER.ms);
    settle(&hand, again);
    settle(&hand, next);
    kafka_hand_free(&hand);
}

static void reading_stops_when_the_hand_is_full_and_goes_on_when_half_is_taken(void **state) {
    (void)state;
    struct kafka_hand hand;
    struct message *held[KAFKA_HAND_MAX];
    size_t count;
    start(&hand, 2);
    for (int64_t offset = 0; offset < KAFKA_HAND_MAX; offset++) {
        assert_true(kafka_hand_room(&hand, 0));
        put(&hand, 0, offset, 1);
    }
    assert_false(kafka_hand_room(&hand, 0) || kafka_hand_room(&hand, 1));
    assert_false(kafka_hand_receive(&hand, now, held, 1, &count));
    assert_true(kafka_hand_receive(&hand, now, held + 1, KAFKA_HAND_MAX / 2, &count));
    assert_int_equal(count, KAFKA_HAND_MAX / 2);
    assert_false(kafka_hand_receive(&hand, now, held + 1 + count, 1, &count));
    assert_true(kafka_hand_room(&hand, 1));
    for (size_t i = 0; i < KAFKA_HAND_MAX / 2 + 2; i++)
        settle(&hand, held[i]);
    put(&hand, 1, 0, KAFKA_HAND_BYTES_MAX);
    assert_false(kafka_hand_room(&hand, 1));
    kafka_hand_free(&hand);
}

static void what_is_read_at_once_is_told_apart_and_by_bytes_there_is_less_room(void **state) {
    (void)state;
    enum { COUNT = 4 };
    struct kafka_hand hand;
    struct kafka_hand_record records[COUNT];
    start(&hand, 1);
    put(&hand, 0, 1, 1);
    struct message *running = receive_one(&hand, now);
    kafka_hand_revoke(&hand, 0);
    kafka_hand_assign(&hand, 0);
    for (int64_t i = 0; i < COUNT; i++) {
        records[i] = (struct kafka_hand_record){message_new(), i, print_of(i)};
        records[i].held->body = (struct bytes){"", KAFKA_HAND_BYTES_MAX / 16};
    }
    assert_int_equal(kafka_hand_put(&hand, 0, records, COUNT, LOG_END), COUNT - 1);
    for (int64_t left = 16 - (COUNT - 1); left > 0; left--) {
        assert_in_range(kafka_hand_room(&hand, 0), left, left + 1);
        put(&hand, 0, LOG_END - left, KAFKA_HAND_BYTES_MAX / 16);
    }
    assert_int_equal(kafka_hand_room(&hand, 0), 0);
    static const int64_t given[] = {0, 2, 3};
    for (size_t i = 0; i < COUNT - 1; i++) {
        struct message *held = receive_one(&hand, now);
        assert_int_equal(offset_of(held), given[i]);
        settle(&hand, held);
    }
    settle(&hand, running);
    kafka_hand_free(&hand);
}

static void a_partition_that_comes_back_gives_only_what_nobody_has(void **state) {
    (void)state;
    struct kafka_hand hand;
    struct kafka_hand_commit commits[2];
    start(&hand, 2);
    for (int64_t offset = 0; offset < 4; offset++)
        put(&hand, 0, offset, 1);
    put(&hand, 1, 7, 1);
    struct message *running = receive_one(&hand, now), *back = receive_one(&hand, now),
                   *done = receive_one(&hand, now);
    kafka_hand_revoke(&hand, 0);
    settle(&hand, done);
    kafka_hand_back(&hand, back, now);
    assert_int_equal(kafka_hand_commits(&hand, commits, 2), 0);
    kafka_hand_assign(&hand, 0);
    assert_false(put(&hand, 0, 0, 1)); /* running */
    assert_true(put(&hand, 0, 1, 1));  /* was handed back while the partition was away */
    assert_false(put(&hand, 0, 2, 1)); /* done */
    assert_true(put(&hand, 0, 3, 1));  /* was never received */
    struct message *other = receive_one(&hand, now);
    assert_int_equal(offset_of(other), 7);
    struct message *first = receive_one(&hand, now), *second = receive_one(&hand, now);
    assert_int_equal(offset_of(first), 1);
    assert_int_equal(offset_of(second), 3);
    assert_true(first->redelivered && second->redelivered);
    settle(&hand, running);
    settle(&hand, first);
    settle(&hand, second);
    assert_int_equal(kafka_hand_commits(&hand, commits, 2), 1);
    assert_int_equal(commits[0].offset, 4);
    settle(&hand, other);
    kafka_hand_free(&hand);
}

/* Nothing else is settled any more: what is read again must do. */
static void
what_was_settled_while_its_partition_was_away_is_committed_once_it_is_back(void **state) {
    (void)state;
    struct kafka_hand hand;
    struct kafka_hand_commit commits[2];
    start(&hand, 1);
    put(&hand, 0, 0, 1);
    put(&hand, 0, 1, 1);
    struct message *first = receive_one(&hand, now), *second = receive_one(&hand, now);
    kafka_hand_revoke(&hand, 0);
    settle(&hand, first);
    settle(&hand, second);
    assert_int_equal(kafka_hand_commits(&hand, commits, 2), 0);
    assert_false(kafka_hand_has_settled(&hand));
    kafka_hand_assign(&hand, 0);
    assert_false(put(&hand, 0, 0, 1) || put(&hand, 0, 1, 1));
    assert_true(kafka_hand_has_settled(&hand));
    assert_int_equal(kafka_hand_commits(&hand, commits, 2), 1);
    assert_int_equal(commits[0].offset, 2);
    kafka_hand_free(&hand);
}

static void what_comes_after_the_assignment_was_never_given(void **state) {
    (void)state;
    struct kafka_hand hand;
    start(&hand, 1);
    put(&hand, 0, LOG_END - 1, 1);
    put(&hand, 0, LOG_END, 1);
    struct message *old = receive_one(&hand, now), *fresh = receive_one(&hand, now);
    assert_true(old->redelivered);
    assert_false(fresh->redelivered);
    message_free(old);
    message_free(fresh);
    kafka_hand_free(&hand);
}

static void lag_is_what_was_not_received(void **state) {
    (void)state;
    struct kafka_hand hand;
    start(&hand, 2);
    assert_int_equal(kafka_hand_lag(&hand), 0);
    kafka_hand_seen(&hand, 0, 990, LOG_END);
    assert_int_equal(kafka_hand_lag(&hand), 10);
    put(&hand, 0, 990, 1);
    put(&hand, 0, 991, 1);
    assert_int_equal(kafka_hand_lag(&hand), 10);
    struct message *held = receive_one(&hand, now);
    assert_int_equal(kafka_hand_lag(&hand), 9);
    kafka_hand_back(&hand, held, now);
    assert_int_equal(kafka_hand_lag(&hand), 10);
    kafka_hand_revoke(&hand, 0);
    assert_int_equal(kafka_hand_lag(&hand), 0);
    kafka_hand_free(&hand);
}

static void it_is_drained_when_every_partition_is_ours_and_read(void **state) {
    (void)state;
    struct kafka_hand hand;
    kafka_hand_init(&hand);
    kafka_hand_topic(&hand, 2);
    assert_false(kafka_hand_drained(&hand));
    kafka_hand_assign(&hand, 1);
    kafka_hand_seen(&hand, 1, 3, 3);
    assert_int_equal(kafka_hand_lag(&hand), 0);
    assert_false(kafka_hand_drained(&hand)); /* what lies in the other one is not known */
    kafka_hand_assign(&hand, 0);
    assert_false(kafka_hand_drained(&hand));
    kafka_hand_seen(&hand, 0, 4, 5);
    assert_false(kafka_hand_drained(&hand));
    kafka_hand_at_end(&hand, 0);
    assert_true(kafka_hand_drained(&hand));
    kafka_hand_assign(&hand, 2); /* the topic has grown */
    kafka_hand_seen(&hand, 2, 0, 10);
    assert_false(kafka_hand_drained(&hand));
    kafka_hand_seen(&hand, 2, 10, 10);
    assert_true(kafka_hand_drained(&hand));
    kafka_hand_revoke(&hand, 1);
    assert_false(kafka_hand_drained(&hand));
    kafka_hand_free(&hand);
}

static void lag_is_known_before_the_group_is_joined(void **state) {
    (void)state;
    struct kafka_hand hand;
    kafka_hand_init(&hand);
    kafka_hand_watch(&hand, 1, 990, LOG_END);
    kafka_hand_watch(&hand, 2, 995, LOG_END);
    assert_int_equal(kafka_hand_lag(&hand), 15);
    kafka_hand_join(&hand);
    kafka_hand_assign(&hand, 1);
    assert_int_equal(kafka_hand_lag(&hand), 0);
    kafka_hand_seen(&hand, 1, 990, LOG_END);
    assert_int_equal(kafka_hand_lag(&hand), 10);
    kafka_hand_free(&hand);
}

static void a_full_ledger_holds_its_own_partition_alone(void **state) {
    (void)state;
    struct kafka_hand hand;
    start(&hand, 2);
    put(&hand, 0, 0, 1);
    struct message *head = receive_one(&hand, now);
    for (int64_t offset = 1; offset < KAFKA_LEDGER_MAX; offset++) {
        put(&hand, 0, offset, 0);
        settle(&hand, receive_one(&hand, now));
    }
    assert_false(kafka_hand_room(&hand, 0));
    assert_true(kafka_hand_is_full(&hand, 0));
    assert_true(kafka_hand_room(&hand, 1));
    assert_true(kafka_hand_settle(&hand, head)); /* the source is told */
    message_free(head);
    assert_true(kafka_hand_room(&hand, 0));
    kafka_hand_free(&hand);
}

/* ---- the end of a log ---- */

static void put_one(struct kafka_hand *hand, int64_t offset, int64_t high) {
    struct kafka_hand_record record = {message_new(), offset, 1};
    kafka_hand_put(hand, 0, &record, 1, high);
}

static void a_marker_behind_the_last_record_is_no_lag(void **state) {
    (void)state;
    struct kafka_hand hand;
    kafka_hand_init(&hand);
    kafka_hand_assign(&hand, 0);
    put_one(&hand, 5, 7);
    assert_int_equal(kafka_hand_lag(&hand), 2); /* one at hand, and what follows it */
    kafka_hand_at_end(&hand, 0);
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
    kafka_hand_at_end(&hand, 0);
    kafka_hand_seen(&hand, 0, 6, 7);
    assert_int_equal(kafka_hand_lag(&hand), 1);
    kafka_hand_at_end(&hand, 0);
    assert_int_equal(kafka_hand_lag(&hand), 0);
    kafka_hand_free(&hand);
}

static void of_what_is_not_ours_nothing_is_known(void **state) {
    (void)state;
    struct kafka_hand hand;
    kafka_hand_init(&hand);
    kafka_hand_at_end(&hand, 3);
    kafka_hand_watch(&hand, 0, 6, 7);
    kafka_hand_at_end(&hand, 0);
    assert_int_equal(kafka_hand_lag(&hand), 1);
    kafka_hand_free(&hand);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_settled_is_committed_and_only_once),
        cmocka_unit_test(what_is_handed_back_comes_behind_and_not_before_its_time),
        cmocka_unit_test(reading_stops_when_the_hand_is_full_and_goes_on_when_half_is_taken),
        cmocka_unit_test(what_is_read_at_once_is_told_apart_and_by_bytes_there_is_less_room),
        cmocka_unit_test(a_partition_that_comes_back_gives_only_what_nobody_has),
        cmocka_unit_test(
            what_was_settled_while_its_partition_was_away_is_committed_once_it_is_back),
        cmocka_unit_test(what_comes_after_the_assignment_was_never_given),
        cmocka_unit_test(lag_is_what_was_not_received),
        cmocka_unit_test(it_is_drained_when_every_partition_is_ours_and_read),
        cmocka_unit_test(lag_is_known_before_the_group_is_joined),
        cmocka_unit_test(a_full_ledger_holds_its_own_partition_alone),
        cmocka_unit_test(a_marker_behind_the_last_record_is_no_lag),
        cmocka_unit_test(a_marker_may_be_all_that_there_is),
        cmocka_unit_test(of_what_is_not_ours_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
