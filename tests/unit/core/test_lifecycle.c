#include "test.h"

#include <string.h>

#include "core/lifecycle.h"

static const struct {
    enum lifecycle_event event;
    enum state from, to;
} steps[] = {
    {LIFECYCLE_TAKE, STATE_QUEUED, STATE_RUNNING},
    {LIFECYCLE_TAKE, STATE_RUNNING, STATE_RUNNING},
    {LIFECYCLE_TAKE, STATE_PENDING_RETRY, STATE_RETRYING},
    {LIFECYCLE_TAKE, STATE_RETRYING, STATE_RETRYING},
    {LIFECYCLE_TAKE, STATE_REPLAYING, STATE_REPLAYING},
    {LIFECYCLE_PUT_BACK, STATE_QUEUED, STATE_QUEUED},
    {LIFECYCLE_PUT_BACK, STATE_RUNNING, STATE_QUEUED},
    {LIFECYCLE_PUT_BACK, STATE_PENDING_RETRY, STATE_PENDING_RETRY},
    {LIFECYCLE_PUT_BACK, STATE_RETRYING, STATE_PENDING_RETRY},
    {LIFECYCLE_PUT_BACK, STATE_REPLAYING, STATE_REPLAYING},
    {LIFECYCLE_REQUEUE, STATE_QUEUED, STATE_QUEUED},
    {LIFECYCLE_REQUEUE, STATE_RUNNING, STATE_QUEUED},
    {LIFECYCLE_RETRY, STATE_QUEUED, STATE_PENDING_RETRY},
    {LIFECYCLE_RETRY, STATE_RUNNING, STATE_PENDING_RETRY},
    {LIFECYCLE_RETRY, STATE_PENDING_RETRY, STATE_PENDING_RETRY},
    {LIFECYCLE_RETRY, STATE_RETRYING, STATE_PENDING_RETRY},
    {LIFECYCLE_RETRY, STATE_REPLAYING, STATE_REPLAYING},
    {LIFECYCLE_DIE, STATE_QUEUED, STATE_PENDING_REVIEW},
    {LIFECYCLE_DIE, STATE_RUNNING, STATE_PENDING_REVIEW},
    {LIFECYCLE_DIE, STATE_PENDING_RETRY, STATE_PENDING_REVIEW},
    {LIFECYCLE_DIE, STATE_RETRYING, STATE_PENDING_REVIEW},
    {LIFECYCLE_DIE, STATE_REPLAYING, STATE_PENDING_REVIEW},
    {LIFECYCLE_DIE, STATE_PENDING_REVIEW, STATE_PENDING_REVIEW},
    {LIFECYCLE_DISCARD, STATE_QUEUED, STATE_DISCARDED},
    {LIFECYCLE_DISCARD, STATE_RUNNING, STATE_DISCARDED},
    {LIFECYCLE_DISCARD, STATE_PENDING_RETRY, STATE_DISCARDED},
    {LIFECYCLE_DISCARD, STATE_RETRYING, STATE_DISCARDED},
    {LIFECYCLE_DISCARD, STATE_REPLAYING, STATE_DISCARDED},
    {LIFECYCLE_DISCARD, STATE_PENDING_REVIEW, STATE_DISCARDED},
    {LIFECYCLE_RESOLVE, STATE_PENDING_REVIEW, STATE_RESOLVED},
    {LIFECYCLE_RESOLVE, STATE_REPLAYING, STATE_RESOLVED},
    {LIFECYCLE_REPLAY, STATE_PENDING_REVIEW, STATE_REPLAYING},
    {LIFECYCLE_RECALL, STATE_REPLAYING, STATE_PENDING_REVIEW},
    {LIFECYCLE_COME_BACK, STATE_RESOLVED, STATE_REPLAYING},
    {LIFECYCLE_COME_BACK_DEAD, STATE_RESOLVED, STATE_PENDING_REVIEW},
    {LIFECYCLE_DEFER_DEATH, STATE_PENDING_REVIEW, STATE_PENDING_RETRY},
};

static enum state expected(int event, int from) {
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if ((int)steps[i].event == event && (int)steps[i].from == from)
            return steps[i].to;
    return STATE_COUNT;
}

static void every_event_leads_where_the_picture_says_and_is_refused_elsewhere(void **state) {
    (void)state;
    for (int event = 0; event < LIFECYCLE_EVENTS; event++)
        for (int from = 0; from < STATE_COUNT; from++)
            assert_int_equal(lifecycle_after((enum lifecycle_event)event, (enum state)from),
                             expected(event, from));
}

/* What the store may change, a row for each state: Queued Running pending_retry (t) retrYing
 * pending_review (v) rePlaying reSolved Discarded. */
static void only_these_changes_may_be_stored(void **state) {
    (void)state;
    static const char *const allowed[STATE_COUNT] = {
        [STATE_QUEUED] = "QRtvD",  [STATE_RUNNING] = "QRtvD",       [STATE_PENDING_RETRY] = "tYvD",
        [STATE_RETRYING] = "tYvD", [STATE_PENDING_REVIEW] = "vPSD", [STATE_REPLAYING] = "vPSD",
        [STATE_RESOLVED] = "vPS",  [STATE_DISCARDED] = "D",
    };
    for (int from = 0; from < STATE_COUNT; from++)
        for (int to = 0; to < STATE_COUNT; to++)
            assert_int_equal(lifecycle_allows((enum state)from, (enum state)to),
                             strchr(allowed[from], "QRtYvPSD"[to]) != NULL);
}

static const struct wall now = {1700000000000};

/* As if it had been through everything before. */
static struct envelope in(enum state state) {
    return (struct envelope){.state = state,
                             .letter_id = BYTES("l"),
                             .resolution = RESOLUTION_REPLAYED,
                             .resolved_at = {3},
                             .dead_at = {4},
                             .next_attempt_at = {5},
                             .delay_ms = 6};
}

static void assert_scheduled(const struct envelope *envelope, struct wall at, int64_t delay_ms) {
    assert_int_equal(envelope->next_attempt_at.ms, at.ms);
    assert_int_equal(envelope->delay_ms, delay_ms);
}

static void a_retry_is_due_after_its_delay(void **state) {
    (void)state;
    struct envelope envelope = in(STATE_RUNNING);
    lifecycle_retry(&envelope, now, 250);
    assert_int_equal(envelope.state, STATE_PENDING_RETRY);
    assert_scheduled(&envelope, (struct wall){now.ms + 250}, 250);
    lifecycle_take(&envelope);
    assert_int_equal(envelope.state, STATE_RETRYING);
    lifecycle_put_back(&envelope);
    assert_int_equal(envelope.state, STATE_PENDING_RETRY);
    assert_scheduled(&envelope, (struct wall){now.ms + 250}, 250);
}

static void what_is_queued_again_has_no_time(void **state) {
    (void)state;
    struct envelope envelope = in(STATE_RUNNING);
    lifecycle_requeue(&envelope);
    assert_int_equal(envelope.state, STATE_QUEUED);
    assert_scheduled(&envelope, WALL_NEVER, 0);
}

static void a_letter_says_when_it_died_and_waits_for_no_time(void **state) {
    (void)state;
    struct envelope envelope = in(STATE_RETRYING);
    lifecycle_die(&envelope, now);
    assert_int_equal(envelope.state, STATE_PENDING_REVIEW);
    assert_int_equal(envelope.dead_at.ms, now.ms);
    assert_scheduled(&envelope, WALL_NEVER, 0);
    envelope = in(STATE_RUNNING);
    lifecycle_discard(&envelope, now);
    assert_int_equal(envelope.state, STATE_DISCARDED);
    assert_int_equal(envelope.dead_at.ms, now.ms);
    assert_scheduled(&envelope, WALL_NEVER, 0);
}

static void a_replay_begins_now_and_ends_resolved_or_as_it_was(void **state) {
    (void)state;
    struct envelope envelope = in(STATE_PENDING_REVIEW);
    lifecycle_replay(&envelope, now);
    assert_int_equal(envelope.state, STATE_REPLAYING);
    assert_scheduled(&envelope, now, 0);
    lifecycle_recall(&envelope);
    assert_int_equal(envelope.state, STATE_PENDING_REVIEW);
    assert_int_equal(envelope.dead_at.ms, 4);
    assert_scheduled(&envelope, WALL_NEVER, 0);
    lifecycle_replay(&envelope, now);
    lifecycle_resolve(&envelope, RESOLUTION_BY_HAND, now);
    assert_int_equal(envelope.state, STATE_RESOLVED);
    assert_int_equal(envelope.resolution, RESOLUTION_BY_HAND);
    assert_int_equal(envelope.resolved_at.ms, now.ms);
    assert_scheduled(&envelope, WALL_NEVER, 0);
}

static void what_comes_back_from_its_origin_is_not_resolved_any_more(void **state) {
    (void)state;
    struct envelope envelope = in(STATE_RESOLVED);
    lifecycle_come_back(&envelope, now);
    assert_int_equal(envelope.state, STATE_REPLAYING);
    assert_int_equal(envelope.resolution, RESOLUTION_NONE);
    assert_int_equal(envelope.resolved_at.ms, WALL_NEVER.ms);
    assert_scheduled(&envelope, now, 0);
    envelope = in(STATE_RESOLVED);
    lifecycle_come_back_dead(&envelope, now);
    assert_int_equal(envelope.state, STATE_PENDING_REVIEW);
    assert_int_equal(envelope.resolution, RESOLUTION_NONE);
    assert_int_equal(envelope.resolved_at.ms, WALL_NEVER.ms);
    assert_int_equal(envelope.dead_at.ms, now.ms);
}

static void a_death_that_is_deferred_leaves_no_letter(void **state) {
    (void)state;
    struct envelope envelope = in(STATE_PENDING_REVIEW);
    lifecycle_defer_death(&envelope);
    assert_int_equal(envelope.state, STATE_PENDING_RETRY);
    assert_int_equal(envelope.letter_id.len, 0);
    assert_int_equal(envelope.dead_at.ms, WALL_NEVER.ms);
}

static void a_new_message_is_queued_and_may_be_adopted_as_a_letter(void **state) {
    (void)state;
    struct envelope envelope = {0};
    assert_int_equal(envelope.state, STATE_QUEUED);
    lifecycle_adopt(&envelope, STATE_DISCARDED);
    assert_int_equal(envelope.state, STATE_DISCARDED);
}

static void a_stored_message_in_flight_is_shown_as_such(void **state) {
    (void)state;
    assert_int_equal(lifecycle_in_flight(STATE_QUEUED), STATE_RUNNING);
    assert_int_equal(lifecycle_in_flight(STATE_PENDING_RETRY), STATE_RETRYING);
    for (int s = 0; s < STATE_COUNT; s++)
        if (lifecycle_is_letter((enum state)s))
            assert_int_equal(lifecycle_in_flight((enum state)s), s);
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
        cmocka_unit_test(every_event_leads_where_the_picture_says_and_is_refused_elsewhere),
        cmocka_unit_test(only_these_changes_may_be_stored),
        cmocka_unit_test(a_retry_is_due_after_its_delay),
        cmocka_unit_test(what_is_queued_again_has_no_time),
        cmocka_unit_test(a_letter_says_when_it_died_and_waits_for_no_time),
        cmocka_unit_test(a_replay_begins_now_and_ends_resolved_or_as_it_was),
        cmocka_unit_test(what_comes_back_from_its_origin_is_not_resolved_any_more),
        cmocka_unit_test(a_death_that_is_deferred_leaves_no_letter),
        cmocka_unit_test(a_new_message_is_queued_and_may_be_adopted_as_a_letter),
        cmocka_unit_test(a_stored_message_in_flight_is_shown_as_such),
        cmocka_unit_test(what_ended_stays_ended_unless_it_comes_back_from_its_origin),
        cmocka_unit_test(a_letter_never_becomes_a_plain_message_again),
        cmocka_unit_test(live_messages_are_never_resolved_or_replayed),
        cmocka_unit_test(every_state_is_either_live_or_a_letter),
        cmocka_unit_test(depth_counts_what_is_unresolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
