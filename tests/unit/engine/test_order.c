/* Order by key: one at a time, and what a dead head means for those behind it. */
#include "rig.h"

#include <stdio.h>

static struct rig *ordered(void) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig->rules.order = ORDER_KEY;
    rig->rules.blocked_limit = 1000;
    return rig;
}

/* a1, a2 … of key "a". */
static void push_numbered(struct rig *rig, const char *key, int from, int to) {
    for (int i = from; i <= to; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "%s%d", key, i);
        rig_push_message(rig, id, key, NULL);
    }
    rig_rest(rig);
}

static void one_key_goes_one_at_a_time_and_others_do_not_wait(void **state) {
    (void)state;
    struct rig *rig = ordered();
    rig_open(rig);
    push_numbered(rig, "a", 1, 3);
    push_numbered(rig, "b", 1, 1);
    rig_push(rig, "none");
    rig_rest(rig);
    rig_assert_log(rig, "start(a1) start(b1) start(none)");
    rig_succeed(rig, "a1");
    rig_assert_log(rig, "submit:forget(a1) settle(a1) start(a2)");
    rig_fail(rig, "a2", 503);
    rig_pass(rig, 999);
    assert_null(rig_call(rig, "a3"));
    rig_pass(rig, 1);
    assert_int_equal(rig_call(rig, "a2")->attempt, 2);
    rig_succeed(rig, "a2");
    assert_non_null(rig_call(rig, "a3"));
    rig_free(rig);
}

static void the_next_one_waits_until_the_end_of_the_first_is_durable(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig->rules.order = ORDER_KEY;
    rig_open(rig);
    push_numbered(rig, "a", 1, 2);
    rig_succeed(rig, "a1");
    assert_null(rig_call(rig, "a2"));
    rig_store(rig);
    assert_non_null(rig_call(rig, "a2"));
    rig_free(rig);
}

static void a_dead_head_closes_its_key_until_people_decide(void **state) {
    (void)state;
    struct rig *rig = ordered();
    rig_open(rig);
    push_numbered(rig, "a", 1, 2);
    push_numbered(rig, "b", 1, 1);
    rig_fail(rig, "a1", 400);
    rig_succeed(rig, "b1");
    assert_int_equal(rig_open_calls(rig), 0);
    char letter[64];
    const struct envelope *head = rig_look(rig, "a1");
    assert_true(head->closes_key);
    snprintf(letter, sizeof letter, "%.*s", BYTES_ARG(head->letter_id));
    assert_bytes(rig_look(rig, "a2")->blocked_by, letter);
    rig_restart(rig);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_mark(rig, "a1", STATE_RESOLVED);
    assert_non_null(rig_call(rig, "a2"));
    rig_free(rig);
}

static void a_replay_of_the_head_opens_its_key_when_it_succeeds(void **state) {
    (void)state;
    struct rig *rig = ordered();
    rig_open(rig);
    push_numbered(rig, "a", 1, 2);
    rig_fail(rig, "a1", 400);
    rig_replay(rig, "a1");
    rig_rest(rig);
    assert_null(rig_call(rig, "a2"));
    rig_succeed(rig, "a1");
    assert_int_equal(rig_state(rig, "a1"), STATE_RESOLVED);
    assert_non_null(rig_call(rig, "a2"));
    rig_free(rig);
}

static void on_dead_continue_lets_the_key_go_on(void **state) {
    (void)state;
    struct rig *rig = ordered();
    rig->rules.on_dead_continue = true;
    rig_open(rig);
    push_numbered(rig, "a", 1, 2);
    rig_fail(rig, "a1", 400);
    assert_non_null(rig_call(rig, "a2"));
    rig_free(rig);
}

static void what_is_discarded_closes_nothing(void **state) {
    (void)state;
    struct rig *rig = ordered();
    rig_open(rig);
    push_numbered(rig, "a", 1, 2);
    struct outcome outcome = rig_outcome(KIND_STATUS, 200);
    outcome.has_verdict = true;
    outcome.verdict = VERDICT_DISCARD;
    rig_answer(rig, "a1", outcome);
    rig_rest(rig);
    assert_non_null(rig_call(rig, "a2"));
    rig_free(rig);
}

static void beyond_the_limit_successors_follow_their_head_unattempted(void **state) {
    (void)state;
    struct rig *rig = ordered();
    rig->rules.blocked_limit = 2;
    rig->policy.routes[0] = (struct dlq_route){BYTES("validation"), BYTES("q.bad")};
    rig->policy.route_count = 1;
    rig_open(rig);
    push_numbered(rig, "a", 1, 5);
    rig_fail(rig, "a1", 400);
    rig_clear_log(rig);
    assert_int_equal(rig_state(rig, "a3"), STATE_QUEUED);
    for (int i = 4; i <= 5; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "a%d", i);
        const struct envelope *letter = rig_look(rig, id);
        assert_int_equal(letter->state, STATE_PENDING_REVIEW);
        assert_int_equal(letter->cause, CAUSE_BLOCKED);
        assert_bytes(letter->dlq, "q.bad");
        assert_bytes(letter->reason, "blocked");
        assert_int_equal(letter->attempts, 0);
        assert_int_equal(letter->history_count, 0);
        assert_false(letter->failed);
        assert_int_equal(letter->blocked_by.len, 0);
        assert_true(letter->closes_key);
    }
    push_numbered(rig, "a", 6, 6);
    assert_int_equal(rig_state(rig, "a6"), STATE_PENDING_REVIEW);
    rig_mark(rig, "a1", STATE_DISCARDED);
    rig_succeed(rig, "a2");
    rig_succeed(rig, "a3");
    push_numbered(rig, "a", 7, 7);
    assert_int_equal(rig_open_calls(rig), 0); /* behind a4 */
    rig_free(rig);
}

static void a_letter_that_closes_its_key_is_not_spilled(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.spill = true});
    rig->rules.order = ORDER_KEY;
    rig->rules.blocked_limit = 10;
    rig->dlqs[0].on_full = ON_FULL_SPILL;
    rig->dlqs[0].cap = 1;
    rig_open(rig);
    push_numbered(rig, "a", 1, 1);
    push_numbered(rig, "b", 1, 1);
    rig_push(rig, "none");
    rig_rest(rig);
    rig_fail(rig, "a1", 400);
    rig_fail(rig, "b1", 400);
    rig_fail(rig, "none", 400);
    assert_int_equal(rig_state(rig, "b1"), STATE_PENDING_REVIEW);
    rig_assert_gone(rig, "none");
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_key_goes_one_at_a_time_and_others_do_not_wait),
        cmocka_unit_test(the_next_one_waits_until_the_end_of_the_first_is_durable),
        cmocka_unit_test(a_dead_head_closes_its_key_until_people_decide),
        cmocka_unit_test(a_replay_of_the_head_opens_its_key_when_it_succeeds),
        cmocka_unit_test(on_dead_continue_lets_the_key_go_on),
        cmocka_unit_test(what_is_discarded_closes_nothing),
        cmocka_unit_test(beyond_the_limit_successors_follow_their_head_unattempted),
        cmocka_unit_test(a_letter_that_closes_its_key_is_not_spilled),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
