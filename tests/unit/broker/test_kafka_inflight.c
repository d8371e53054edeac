/* What a Kafka source has at hand, without a network. */
#include "test.h"

#include "broker/kafka/consume/kafka_inflight.h"

enum { LOG_END = 1000 };

static const struct mono now = {5000};

static uint64_t print_of(int64_t offset) {
    return (uint64_t)offset + 77;
}

static bool put(struct kafka_inflight *inflight, int32_t number, int64_t offset, size_t size) {
    struct message *held = message_new();
    held->body = (struct bytes){arena_alloc(&held->arena, size + 1), size};
    struct kafka_inflight_record record = {held, offset, print_of(offset)};
    return kafka_inflight_put(inflight, number, &record, 1, LOG_END) == 1;
}

static struct message *receive_one(struct kafka_inflight *inflight, struct mono at) {
    struct message *held = NULL;
    size_t count;
    kafka_inflight_receive(inflight, at, &held, 1, &count);
    return count ? held : NULL;
}

static int64_t offset_of(const struct message *held) {
    return ((const struct kafka_item *)held->source)->offset;
}

static void settle(struct kafka_inflight *inflight, struct message *held) {
    kafka_inflight_settle(inflight, held);
    message_free(held);
}

static void start(struct kafka_inflight *inflight, int32_t partitions) {
    kafka_inflight_init(inflight);
    for (int32_t number = 0; number < partitions; number++)
        kafka_inflight_assign(inflight, number);
}

static void only_what_is_settled_is_committed_and_only_once(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    struct kafka_inflight_commit commits[4];
    start(&inflight, 2);
    assert_true(put(&inflight, 0, 10, 1) && put(&inflight, 0, 11, 1) && put(&inflight, 1, 20, 1));
    struct message *first = receive_one(&inflight, now), *second = receive_one(&inflight, now),
                   *other = receive_one(&inflight, now);
    assert_int_equal(kafka_inflight_commits(&inflight, commits, 4), 0);
    settle(&inflight, second);
    settle(&inflight, other);
    assert_true(kafka_inflight_has_settled(&inflight));
    assert_int_equal(kafka_inflight_commits(&inflight, commits, 4), 1);
    assert_int_equal(commits[0].number, 1);
    assert_int_equal(commits[0].offset, 21);
    kafka_inflight_committed(&inflight, 1, 21);
    assert_int_equal(kafka_inflight_commits(&inflight, commits, 4), 0);
    assert_false(kafka_inflight_has_settled(&inflight));
    settle(&inflight, first);
    assert_int_equal(kafka_inflight_commits(&inflight, commits, 4), 1);
    assert_int_equal(commits[0].number, 0);
    assert_int_equal(commits[0].offset, 12);
    kafka_inflight_free(&inflight);
}

static void what_is_handed_back_comes_behind_and_not_before_its_time(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    start(&inflight, 1);
    put(&inflight, 0, 0, 1);
    put(&inflight, 0, 1, 1);
    struct mono later = mono_after(now, 100);
    kafka_inflight_hand_back(&inflight, receive_one(&inflight, now), later);
    struct message *next = receive_one(&inflight, now);
    assert_int_equal(offset_of(next), 1);
    assert_null(receive_one(&inflight, now));
    assert_int_equal(kafka_inflight_next_wake(&inflight).ms, later.ms);
    struct message *again = receive_one(&inflight, later);
    assert_int_equal(offset_of(again), 0);
    assert_int_equal(kafka_inflight_next_wake(&inflight).ms, MONO_NEVER.ms);
    settle(&inflight, again);
    settle(&inflight, next);
    kafka_inflight_free(&inflight);
}

static void reading_stops_when_the_hand_is_full_and_goes_on_when_half_is_taken(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    struct message *held[KAFKA_INFLIGHT_MAX];
    size_t count;
    start(&inflight, 2);
    for (int64_t offset = 0; offset < KAFKA_INFLIGHT_MAX; offset++) {
        assert_true(kafka_inflight_room(&inflight, 0));
        put(&inflight, 0, offset, 1);
    }
    assert_false(kafka_inflight_room(&inflight, 0) || kafka_inflight_room(&inflight, 1));
    assert_false(kafka_inflight_receive(&inflight, now, held, 1, &count));
    assert_true(kafka_inflight_receive(&inflight, now, held + 1, KAFKA_INFLIGHT_MAX / 2, &count));
    assert_int_equal(count, KAFKA_INFLIGHT_MAX / 2);
    assert_false(kafka_inflight_receive(&inflight, now, held + 1 + count, 1, &count));
    assert_true(kafka_inflight_room(&inflight, 1));
    for (size_t i = 0; i < KAFKA_INFLIGHT_MAX / 2 + 2; i++)
        settle(&inflight, held[i]);
    put(&inflight, 1, 0, KAFKA_INFLIGHT_BYTES_MAX);
    assert_false(kafka_inflight_room(&inflight, 1));
    kafka_inflight_free(&inflight);
}

static void what_is_read_at_once_is_told_apart_and_by_bytes_there_is_less_room(void **state) {
    (void)state;
    enum { COUNT = 4 };
    struct kafka_inflight inflight;
    struct kafka_inflight_record records[COUNT];
    start(&inflight, 1);
    put(&inflight, 0, 1, 1);
    struct message *running = receive_one(&inflight, now);
    kafka_inflight_revoke(&inflight, 0);
    kafka_inflight_assign(&inflight, 0);
    for (int64_t i = 0; i < COUNT; i++) {
        records[i] = (struct kafka_inflight_record){message_new(), i, print_of(i)};
        records[i].held->body = (struct bytes){"", KAFKA_INFLIGHT_BYTES_MAX / 16};
    }
    assert_int_equal(kafka_inflight_put(&inflight, 0, records, COUNT, LOG_END), COUNT - 1);
    for (int64_t left = 16 - (COUNT - 1); left > 0; left--) {
        assert_in_range(kafka_inflight_room(&inflight, 0), left, left + 1);
        put(&inflight, 0, LOG_END - left, KAFKA_INFLIGHT_BYTES_MAX / 16);
    }
    assert_int_equal(kafka_inflight_room(&inflight, 0), 0);
    static const int64_t given[] = {0, 2, 3};
    for (size_t i = 0; i < COUNT - 1; i++) {
        struct message *held = receive_one(&inflight, now);
        assert_int_equal(offset_of(held), given[i]);
        settle(&inflight, held);
    }
    settle(&inflight, running);
    kafka_inflight_free(&inflight);
}

static void a_partition_that_comes_back_gives_only_what_nobody_has(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    struct kafka_inflight_commit commits[2];
    start(&inflight, 2);
    for (int64_t offset = 0; offset < 4; offset++)
        put(&inflight, 0, offset, 1);
    put(&inflight, 1, 7, 1);
    struct message *running = receive_one(&inflight, now), *back = receive_one(&inflight, now),
                   *done = receive_one(&inflight, now);
    kafka_inflight_revoke(&inflight, 0);
    settle(&inflight, done);
    kafka_inflight_hand_back(&inflight, back, now);
    assert_int_equal(kafka_inflight_commits(&inflight, commits, 2), 0);
    kafka_inflight_assign(&inflight, 0);
    assert_false(put(&inflight, 0, 0, 1)); /* running */
    assert_true(put(&inflight, 0, 1, 1));  /* was handed back while the partition was away */
    assert_false(put(&inflight, 0, 2, 1)); /* done */
    assert_true(put(&inflight, 0, 3, 1));  /* was never received */
    struct message *other = receive_one(&inflight, now);
    assert_int_equal(offset_of(other), 7);
    struct message *first = receive_one(&inflight, now), *second = receive_one(&inflight, now);
    assert_int_equal(offset_of(first), 1);
    assert_int_equal(offset_of(second), 3);
    assert_true(first->redelivered && second->redelivered);
    settle(&inflight, running);
    settle(&inflight, first);
    settle(&inflight, second);
    assert_int_equal(kafka_inflight_commits(&inflight, commits, 2), 1);
    assert_int_equal(commits[0].offset, 4);
    settle(&inflight, other);
    kafka_inflight_free(&inflight);
}

/* Nothing else is settled any more: what is read again must do. */
static void
what_was_settled_while_its_partition_was_away_is_committed_once_it_is_back(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    struct kafka_inflight_commit commits[2];
    start(&inflight, 1);
    put(&inflight, 0, 0, 1);
    put(&inflight, 0, 1, 1);
    struct message *first = receive_one(&inflight, now), *second = receive_one(&inflight, now);
    kafka_inflight_revoke(&inflight, 0);
    settle(&inflight, first);
    settle(&inflight, second);
    assert_int_equal(kafka_inflight_commits(&inflight, commits, 2), 0);
    assert_false(kafka_inflight_has_settled(&inflight));
    kafka_inflight_assign(&inflight, 0);
    assert_false(put(&inflight, 0, 0, 1) || put(&inflight, 0, 1, 1));
    assert_true(kafka_inflight_has_settled(&inflight));
    assert_int_equal(kafka_inflight_commits(&inflight, commits, 2), 1);
    assert_int_equal(commits[0].offset, 2);
    kafka_inflight_free(&inflight);
}

static void what_comes_after_the_assignment_was_never_given(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    start(&inflight, 1);
    put(&inflight, 0, LOG_END - 1, 1);
    put(&inflight, 0, LOG_END, 1);
    struct message *old = receive_one(&inflight, now), *fresh = receive_one(&inflight, now);
    assert_true(old->redelivered);
    assert_false(fresh->redelivered);
    message_free(old);
    message_free(fresh);
    kafka_inflight_free(&inflight);
}

static void lag_is_what_was_not_received(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    start(&inflight, 2);
    assert_int_equal(kafka_inflight_lag(&inflight), 0);
    kafka_inflight_seen(&inflight, 0, 990, LOG_END);
    assert_int_equal(kafka_inflight_lag(&inflight), 10);
    put(&inflight, 0, 990, 1);
    put(&inflight, 0, 991, 1);
    assert_int_equal(kafka_inflight_lag(&inflight), 10);
    struct message *held = receive_one(&inflight, now);
    assert_int_equal(kafka_inflight_lag(&inflight), 9);
    kafka_inflight_hand_back(&inflight, held, now);
    assert_int_equal(kafka_inflight_lag(&inflight), 10);
    kafka_inflight_revoke(&inflight, 0);
    assert_int_equal(kafka_inflight_lag(&inflight), 0);
    kafka_inflight_free(&inflight);
}

static void it_is_drained_when_every_partition_is_ours_and_read(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    kafka_inflight_init(&inflight);
    kafka_inflight_topic(&inflight, 2);
    assert_false(kafka_inflight_drained(&inflight));
    kafka_inflight_assign(&inflight, 1);
    kafka_inflight_seen(&inflight, 1, 3, 3);
    assert_int_equal(kafka_inflight_lag(&inflight), 0);
    assert_false(kafka_inflight_drained(&inflight)); /* what lies in the other one is not known */
    kafka_inflight_assign(&inflight, 0);
    assert_false(kafka_inflight_drained(&inflight));
    kafka_inflight_seen(&inflight, 0, 4, 5);
    assert_false(kafka_inflight_drained(&inflight));
    kafka_inflight_at_end(&inflight, 0);
    assert_true(kafka_inflight_drained(&inflight));
    kafka_inflight_assign(&inflight, 2); /* the topic has grown */
    kafka_inflight_seen(&inflight, 2, 0, 10);
    assert_false(kafka_inflight_drained(&inflight));
    kafka_inflight_seen(&inflight, 2, 10, 10);
    assert_true(kafka_inflight_drained(&inflight));
    kafka_inflight_revoke(&inflight, 1);
    assert_false(kafka_inflight_drained(&inflight));
    kafka_inflight_free(&inflight);
}

static void lag_is_known_before_the_group_is_joined(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    kafka_inflight_init(&inflight);
    kafka_inflight_watch(&inflight, 1, 990, LOG_END);
    kafka_inflight_watch(&inflight, 2, 995, LOG_END);
    assert_int_equal(kafka_inflight_lag(&inflight), 15);
    kafka_inflight_join(&inflight);
    kafka_inflight_assign(&inflight, 1);
    assert_int_equal(kafka_inflight_lag(&inflight), 0);
    kafka_inflight_seen(&inflight, 1, 990, LOG_END);
    assert_int_equal(kafka_inflight_lag(&inflight), 10);
    kafka_inflight_free(&inflight);
}

static void a_full_tracker_holds_its_own_partition_alone(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    start(&inflight, 2);
    put(&inflight, 0, 0, 1);
    struct message *head = receive_one(&inflight, now);
    for (int64_t offset = 1; offset < OFFSET_TRACKER_MAX; offset++) {
        put(&inflight, 0, offset, 0);
        settle(&inflight, receive_one(&inflight, now));
    }
    assert_false(kafka_inflight_room(&inflight, 0));
    assert_true(kafka_inflight_is_full(&inflight, 0));
    assert_true(kafka_inflight_room(&inflight, 1));
    assert_true(kafka_inflight_settle(&inflight, head)); /* the source is told */
    message_free(head);
    assert_true(kafka_inflight_room(&inflight, 0));
    kafka_inflight_free(&inflight);
}

/* ---- the end of a log ---- */

static void put_one(struct kafka_inflight *inflight, int64_t offset, int64_t high) {
    struct kafka_inflight_record record = {message_new(), offset, 1};
    kafka_inflight_put(inflight, 0, &record, 1, high);
}

static void a_marker_behind_the_last_record_is_no_lag(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    kafka_inflight_init(&inflight);
    kafka_inflight_assign(&inflight, 0);
    put_one(&inflight, 5, 7);
    assert_int_equal(kafka_inflight_lag(&inflight), 2); /* one at hand, and what follows it */
    kafka_inflight_at_end(&inflight, 0);
    assert_int_equal(kafka_inflight_lag(&inflight), 1);
    kafka_inflight_seen(&inflight, 0, -1, 9);
    assert_int_equal(kafka_inflight_lag(&inflight), 4);
    kafka_inflight_free(&inflight);
}

static void a_marker_may_be_all_that_there_is(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    kafka_inflight_init(&inflight);
    kafka_inflight_assign(&inflight, 0);
    kafka_inflight_at_end(&inflight, 0);
    kafka_inflight_seen(&inflight, 0, 6, 7);
    assert_int_equal(kafka_inflight_lag(&inflight), 1);
    kafka_inflight_at_end(&inflight, 0);
    assert_int_equal(kafka_inflight_lag(&inflight), 0);
    kafka_inflight_free(&inflight);
}

static void of_what_is_not_ours_nothing_is_known(void **state) {
    (void)state;
    struct kafka_inflight inflight;
    kafka_inflight_init(&inflight);
    kafka_inflight_at_end(&inflight, 3);
    kafka_inflight_watch(&inflight, 0, 6, 7);
    kafka_inflight_at_end(&inflight, 0);
    assert_int_equal(kafka_inflight_lag(&inflight), 1);
    kafka_inflight_free(&inflight);
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
        cmocka_unit_test(a_full_tracker_holds_its_own_partition_alone),
        cmocka_unit_test(a_marker_behind_the_last_record_is_no_lag),
        cmocka_unit_test(a_marker_may_be_all_that_there_is),
        cmocka_unit_test(of_what_is_not_ours_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
