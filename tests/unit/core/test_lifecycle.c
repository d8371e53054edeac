#include "test.h"

#include "core/lifecycle.h"

static void a_message_goes_the_way_of_the_picture(void **state) {
    (void)state;
    assert_true(lifecycle_allows(STATE_QUEUED, STATE_RUNNING));
    assert_true(lifecycle_allows(STATE_RUNNING, STATE_PENDING_RETRY));
    assert_true(lifecycle_allows(STATE_PENDING_RETRY, STATE_RETRYING));
    assert_true(lifecycle_allows(STATE_RETRYING, STATE_PENDING_REVIEW));
    assert_true(lifecycle_allows(STATE_PENDING_REVIEW, STATE_REPLAYING));
    assert_true(lifecycle_allows(STATE_REPLAYING, STATE_RESOLVED));
    assert_true(lifecycle_allows(STATE_REPLAYING, STATE_PENDING_REVIEW));
    assert_true(lifecycle_allows(STATE_PENDING_REVIEW, STATE_DISCARDED));
}

static void what_is_handed_back_waits_again(void **state) {
    (void)state;
    assert_true(lifecycle_allows(STATE_RUNNING, STATE_QUEUED));
    assert_true(lifecycle_allows(STATE_RETRYING, STATE_PENDING_RETRY));
}

static void what_ended_stays_ended_unless_it_comes_back_from_its_origin(void **state) {
    (void)state;
    for (int to = 0; to < STATE_COUNT; to++) {
        bool came_back = to == STATE_REPLAYING || to == STATE_PENDING_REVIEW;
        assert_int_equal(lifecycle_allows(STATE_RESOLVED, (enum state)to),
                         to == STATE_RESOLVED || came_back);
        assert_int_equal(lifecycle_allows(STATE_DISCARDED, (enum state)to), to == STATE_DISCARDED);
    }
}

static void a_letter_never_becomes_a_plain_message_again(void **state) {
    (void)state;
    for (int from = 0; from < STATE_COUNT; from++)
        for (int to = 0; to < STATE_COUNT; to++)
            if (lifecycle_is_letter((enum state)from) && lifecycle_is_live((enum state)to))
                assert_false(lifecycle_allows((enum state)from, (enum state)to));
}

static void live_messages_are_never_resolved_or_replayed(void **state) {
    (void)state;
    for (int from = 0; from < STATE_COUNT; from++)
        if (lifecycle_is_live((enum state)from)) {
            assert_false(lifecycle_allows((enum state)from, STATE_RESOLVED));
            assert_false(lifecycle_allows((enum state)from, STATE_REPLAYING));
        }
}

static void every_state_is_either_live_or_a_letter(void **state) {
    (void)state;
    for (int s = 0; s < STATE_COUNT; s++)
        assert_true(lifecycle_is_live((enum state)s) != lifecycle_is_letter((enum state)s));
}

static void depth_counts_what_is_unresolved(void **state) {
    (void)state;
    for (int s = 0; s < STATE_COUNT; s++)
        assert_int_equal(lifecycle_counts_in_depth((enum state)s),
                         s == STATE_PENDING_REVIEW || s == STATE_REPLAYING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_goes_the_way_of_the_picture),
        cmocka_unit_test(what_is_handed_back_waits_again),
        cmocka_unit_test(what_ended_stays_ended_unless_it_comes_back_from_its_origin),
        cmocka_unit_test(a_letter_never_becomes_a_plain_message_again),
        cmocka_unit_test(live_messages_are_never_resolved_or_replayed),
        cmocka_unit_test(every_state_is_either_live_or_a_letter),
        cmocka_unit_test(depth_counts_what_is_unresolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
