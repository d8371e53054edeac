/* An outage: everything is held, a few are sent ahead, and nobody pays for it with an attempt. */
#include <stdio.h>
#include <string.h>

#include "rig.h"

enum { FIRST_OPEN_MS = BREAKER_FIRST_OPEN_MS };

static struct rig *rig_of(uint32_t concurrency) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = concurrency;
    rig_open(rig);
    return rig;
}

static void five_failures_in_a_row_stop_everything(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    assert_true(rig_saw_event(rig, "\"type\":\"breaker\""));
    assert_int_equal(rig_view(rig).breaker_until.ms, rig->now.wall.ms + FIRST_OPEN_MS);
    assert_string_equal(rig_view(rig).breaker_why, "HTTP 503 it said no");
    size_t asked = rig->brokers[0].asked;
    rig_push(rig, "new");
    rig_pass(rig, FIRST_OPEN_MS - 1);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig->brokers[0].asked, asked);
    assert_int_equal(rig->next.ms, rig->now.mono.ms + 1);
    rig_free(rig);
}

static void a_downstream_that_names_a_time_is_left_alone_until_then(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    struct outcome busy = rig_outcome(KIND_STATUS, 503);
    busy.retry_after_ms = 20000;
    rig_push_many(rig, 5);
    rig_rest(rig);
    for (size_t i = 0; i < 5; i++)
        rig_answer(rig, rig->calls[i].id, busy);
    rig_rest(rig);
    rig_pass(rig, 19999);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_pass(rig, 1);
    assert_int_equal(rig_open_calls(rig), 1);
    rig_free(rig);
}

static void the_first_probe_is_one_that_was_never_attempted(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push(rig, "new");
    rig_pass(rig, FIRST_OPEN_MS);
    assert_int_equal(rig_open_calls(rig), 1);
    assert_non_null(rig_call(rig, "new"));
    assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
    rig_free(rig);
}

static void a_failed_probe_is_in_the_history_and_counts_nowhere(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push(rig, "new");
    rig_pass(rig, FIRST_OPEN_MS);
    rig_answer(rig, "new", rig_outcome(KIND_RESET, 0));
    rig_rest(rig);
    const struct envelope *envelope = rig_look(rig, "new");
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_int_equal(envelope->attempts, 0);
    assert_int_equal(envelope->crashes, 0);
    assert_int_equal(envelope->first_failure_at.ms, WALL_NEVER.ms);
    assert_int_equal(envelope->history_count, 1);
    assert_false(envelope->history[0].counted);
    assert_true(envelope->history[0].probe);
    assert_int_equal(rig_view(rig).results[RESULT_PROBE_FAILED], 1);
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    rig_pass(rig, 2 * FIRST_OPEN_MS - 1);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_pass(rig, 1);
    assert_int_equal(rig_open_calls(rig), 1);
    rig_free(rig);
}

/* Fails one probe after another; each must be of the message that is named. */
static void fail_probes(struct rig *rig, const char *const *ids, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rig_pass(rig, rig_view(rig).breaker_until.ms - rig->now.wall.ms);
        assert_int_equal(rig_open_calls(rig), 1);
        assert_non_null(rig_call(rig, ids[i]));
        rig_fail(rig, ids[i], 503);
    }
}

static void probes_are_new_messages_first_then_what_was_handed_over_longest_ago(void **state) {
    (void)state;
    static const char *const probes[] = {"n1", "n2", "f1", "f2", "f3", "f4", "f5",
                                         "n1", "n2", "f1", "f2", "f3", "f4", "f5"};
    struct rig *rig = rig_of(5);
    rig->policy.breaker.open_ms = FIRST_OPEN_MS;
    rig_break_down(rig);
    rig_push(rig, "n1");
    rig_push(rig, "n2");
    rig_rest(rig);
    fail_probes(rig, probes, sizeof probes / sizeof *probes);
    assert_int_equal(rig_look(rig, "f1")->attempts, 1);
    assert_int_equal(rig_look(rig, "f1")->probes, 0);
    rig_free(rig);
}

/* p1 and p2 fail for ever, alone: five failures open the breaker, and after that every call of them
 * is a probe without evidence of an outage. */
static struct rig *two_that_always_fail(void) {
    struct rig *rig = rig_of(5);
    rig->policy.retry.attempts = 4;
    rig_push(rig, "p1");
    rig_push(rig, "p2");
    rig_rest(rig);
    while (rig_view(rig).breaker == BREAKER_CLOSED) {
        rig_fail_all(rig, 503);
        rig_pass(rig, 1000);
    }
    return rig;
}

static size_t calls_of(const struct rig *rig, const char *id) {
    size_t count = 0;
    for (size_t i = 0; i < rig->call_count; i++)
        count += strcmp(rig->calls[i].id, id) == 0;
    return count;
}

static void two_that_always_fail_are_dead_after_a_bounded_number_of_calls(void **state) {
    (void)state;
    struct rig *rig = two_that_always_fail();
    for (size_t i = 0; i < 3600 && rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")) < 2;
         i++) {
        rig_fail_all(rig, 503);
        rig_pass(rig, 1000);
    }
    static const char *const ids[] = {"p1", "p2"};
    for (size_t i = 0; i < 2; i++) {
        const struct envelope *letter = rig_look(rig, ids[i]);
        assert_int_equal(letter->state, STATE_PENDING_REVIEW);
        assert_int_equal(letter->cause, CAUSE_EXHAUSTED);
        assert_true(bytes_is(letter->reason, "max_attempts:upstream_busy"));
        assert_int_equal(letter->attempts + letter->probes, 4 + 8);
        assert_true(letter->attempts <= 4 && letter->probes >= 8);
        assert_int_equal(calls_of(rig, ids[i]), 4 + 8);
        assert_false(letter->history[letter->history_count - 1].counted);
    }
    rig_free(rig);
}

static void without_evidence_max_age_ends_it(void **state) {
    (void)state;
    struct rig *rig = two_that_always_fail();
    rig->policy.retry.max_age_ms = 10 * 1000;
    for (size_t i = 0; i < 60; i++) {
        rig_fail_all(rig, 503);
        rig_pass(rig, 1000);
    }
    assert_int_equal(rig_state(rig, "p1"), STATE_PENDING_REVIEW);
    assert_int_equal(rig_look(rig, "p1")->cause, CAUSE_EXPIRED);
    assert_int_equal(rig_look(rig, "p2")->cause, CAUSE_EXPIRED);
    rig_free(rig);
}

static void a_probe_that_fails_first_of_all_starts_max_age_unless_it_is_an_outage(void **state) {
    (void)state;
    struct rig *rig = two_that_always_fail();
    rig_fail_all(rig, 503);
    rig_push(rig, "new");
    rig_pass(rig, FIRST_OPEN_MS);
    rig_fail(rig, "new", 503);
    assert_int_equal(rig_look(rig, "new")->first_failure_at.ms, rig->now.wall.ms);
    assert_int_equal(rig_look(rig, "new")->probes, 1);
    rig_free(rig);
}

static void an_outage_that_lasts_kills_nothing(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig->policy.retry.attempts = 2;
    rig->policy.retry.max_age_ms = 3600 * 1000;
    rig_break_down(rig);
    for (size_t i = 0; i < 2 * 3600; i++) {
        rig_fail_all(rig, 503);
        rig_pass(rig, 1000);
    }
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 0);
    assert_int_equal(rig_look(rig, "f3")->attempts, 1);
    assert_int_equal(rig_look(rig, "f3")->probes, 0);
    rig_free(rig);
}

/* The downstream was alive in between: f1 cannot blame the outage. */
static void a_failure_after_another_message_succeeded_counts_as_an_attempt(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push(rig, "healthy");
    rig_pass(rig, FIRST_OPEN_MS);
    rig_succeed(rig, "healthy");
    assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
    assert_non_null(rig_call(rig, "f1"));
    rig_fail(rig, "f1", 503);
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    const struct envelope *envelope = rig_look(rig, "f1");
    assert_int_equal(envelope->attempts, 2);
    assert_int_equal(envelope->probes, 0);
    assert_true(envelope->history[1].counted && envelope->history[1].probe);
    rig_free(rig);
}

static void a_users_rule_that_says_dlq_is_carried_out_on_a_probe(void **state) {
    (void)state;
    struct rule rule = {.when = {.statuses = {{503, 503}}, .status_count = 1, .attempts = {2, 99}},
                        .verdict = VERDICT_DLQ,
                        .category = BYTES("mine"),
                        .reason = BYTES("enough"),
                        .name = BYTES("q.rules[0]")};
    struct rig *rig = rig_new((struct rig_options){0});
    rig->concurrency = 5;
    rig->policy.rules = &rule;
    rig->policy.rule_count = 1;
    rig_open(rig);
    rig_break_down(rig);
    rig_pass(rig, FIRST_OPEN_MS);
    rig_fail(rig, "f1", 503);
    assert_int_equal(rig_state(rig, "f1"), STATE_PENDING_REVIEW);
    assert_true(bytes_is(rig_look(rig, "f1")->reason, "enough"));
    rig_free(rig);
}

static void resume_ends_the_wait_of_an_open_breaker(void **state) {
    (void)state;
    static const char *const probes[] = {"f1", "f2", "f3"};
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    fail_probes(rig, probes, 3);
    assert_int_equal(rig_view(rig).breaker_until.ms, rig->now.wall.ms + 8 * FIRST_OPEN_MS);
    rig_ask(rig, ENGINE_RESUME, NULL);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 1);
    assert_non_null(rig_call(rig, "f4"));
    rig_fail(rig, "f4", 503);
    assert_int_equal(rig_view(rig).breaker_until.ms, rig->now.wall.ms + FIRST_OPEN_MS);
    rig_free(rig);
}

/* Four may fail five times in a row before the breaker knows better; then only one is left. */
static void a_message_that_is_alone_probes_again_and_again(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig->policy.breaker.open_ms = FIRST_OPEN_MS;
    rig->policy.retry.shape = BACKOFF_FIXED;
    rig->policy.retry.cap_ms = rig->policy.retry.base_ms = 3600000;
    rig_break_down(rig);
    rig_push(rig, "only");
    rig_rest(rig);
    for (size_t i = 0; i < 3; i++) {
        rig_pass(rig, FIRST_OPEN_MS);
        assert_non_null(rig_call(rig, "only"));
        rig_fail(rig, "only", 503);
    }
    assert_int_equal(rig_look(rig, "only")->attempts, 0);
    rig_free(rig);
}

static void beside_two_that_fail_a_healthy_one_is_tried_within_a_second(void **state) {
    (void)state;
    struct rig *rig = two_that_always_fail();
    for (size_t i = 0; i < 15; i++) {
        rig_fail_all(rig, 503);
        rig_pass(rig, FIRST_OPEN_MS);
    }
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    assert_true(rig_view(rig).breaker_until.ms > rig->now.wall.ms + 2 * FIRST_OPEN_MS);
    rig_push(rig, "healthy");
    rig_rest(rig);
    rig_succeed(rig, "healthy");
    rig_assert_gone(rig, "healthy");
    rig_free(rig);
}

/* Each of them is probed, a second after the one before. */
static void arrivals_are_probed_at_most_once_a_second(void **state) {
    (void)state;
    struct rig *rig = two_that_always_fail();
    for (size_t i = 0; i < 15; i++) {
        rig_fail_all(rig, 503);
        rig_pass(rig, FIRST_OPEN_MS);
    }
    rig_push(rig, "n1");
    rig_push(rig, "n2");
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 1);
    rig_fail(rig, "n1", 503);
    rig_pass(rig, FIRST_OPEN_MS - 1);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_pass(rig, 1);
    assert_non_null(rig_call(rig, "n2"));
    rig_free(rig);
}

static void a_delayed_message_ends_the_wait_when_its_delay_is_over(void **state) {
    (void)state;
    struct rig *rig = two_that_always_fail();
    for (size_t i = 0; i < 15; i++) {
        rig_fail_all(rig, 503);
        rig_pass(rig, FIRST_OPEN_MS);
    }
    struct envelope delayed = {.id = BYTES("later"),
                               .queue = BYTES("q"),
                               .state = STATE_QUEUED,
                               .source = BYTES("{\"kind\":\"builtin\"}"),
                               .content_type = BYTES("application/json"),
                               .created_at = rig->now.wall,
                               .delay_ms = 3000,
                               .next_attempt_at = {rig->now.wall.ms + 3000},
                               .retry_after_ms = -1};
    struct store_op op = {.kind = STORE_PUT, .queue = 1, .envelope = &delayed, .body = BYTES("{}")};
    rig_commit(rig, &op);
    snprintf(rig->ids[op.seq], RIG_ID_SIZE, "later");
    rig_rest(rig);
    assert_int_equal(rig->next.ms, rig->now.mono.ms + 3000);
    rig_pass(rig, 3000);
    assert_non_null(rig_call(rig, "later"));
    rig_free(rig);
}

static void what_was_under_way_when_it_opened_burns_no_attempt(void **state) {
    (void)state;
    struct rig *rig = rig_of(9);
    rig_push_many(rig, 4);
    rig_break_down(rig);
    rig_fail(rig, "m1", 503);
    assert_int_equal(rig_state(rig, "m1"), STATE_PENDING_RETRY);
    assert_int_equal(rig_look(rig, "m1")->attempts, 0);
    assert_false(rig_look(rig, "m1")->history[0].counted);
    rig_fail(rig, "m2", 500); /* dead by its preset, were there no outage */
    assert_int_equal(rig_state(rig, "m2"), STATE_PENDING_RETRY);
    rig_fail(rig, "m3", 400);
    assert_int_equal(rig_state(rig, "m3"), STATE_PENDING_REVIEW);
    rig_succeed(rig, "m4");
    rig_assert_gone(rig, "m4");
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    rig_free(rig);
}

static void those_that_opened_it_were_counted(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    assert_int_equal(rig_look(rig, "f1")->attempts, 1);
    assert_int_equal(rig_look(rig, "f5")->attempts, 1);
    rig_free(rig);
}

static void rounds_double_until_it_closes_and_traffic_flows(void **state) {
    (void)state;
    static const size_t rounds[] = {1, 2, 4, 5};
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push_many(rig, 20);
    rig_pass(rig, FIRST_OPEN_MS);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
        assert_int_equal(rig_open_calls(rig), rounds[i]);
        rig_succeed_all(rig);
    }
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    assert_int_equal(rig_open_calls(rig), 5);
    while (rig_open_calls(rig))
        rig_succeed_all(rig);
    assert_int_equal(rig_view(rig).counts.queued, 0);
    assert_int_equal(rig_view(rig).counts.pending_retry, 0);
    rig_free(rig);
}

static void a_terminal_verdict_on_a_probe_is_carried_out_and_proves_life(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push(rig, "bad");
    rig_pass(rig, FIRST_OPEN_MS);
    rig_fail(rig, "bad", 422);
    assert_int_equal(rig_state(rig, "bad"), STATE_PENDING_REVIEW);
    assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
    assert_int_equal(rig_open_calls(rig), 2);
    rig_free(rig);
}

/* rig_rest fails when the engine wants turn after turn at one moment. */
static void an_old_slow_probe_is_awaited_without_spinning(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push_many(rig, 9);
    rig_pass(rig, FIRST_OPEN_MS);
    rig_succeed(rig, "m1");
    rig_fail(rig, "m2", 503);
    assert_int_equal(rig_open_calls(rig), 1);
    for (size_t i = 0; i < 5; i++) {
        rig_pass(rig, 10000);
        assert_int_equal(rig_open_calls(rig), 1);
        assert_true(rig->next.ms > rig->now.mono.ms);
    }
    rig_succeed(rig, "m3");
    rig_assert_gone(rig, "m3");
    assert_int_equal(rig_open_calls(rig), 1);
    assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
    rig_free(rig);
}

static void a_round_that_lacks_messages_waits_for_them_without_spinning(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_pass(rig, FIRST_OPEN_MS);
    while (rig_open_calls(rig))
        rig_succeed_all(rig);
    assert_int_equal(rig_view(rig).breaker, BREAKER_HALF_OPEN);
    rig_pass(rig, 60000);
    rig_push_many(rig, 9);
    rig_rest(rig);
    while (rig_open_calls(rig))
        rig_succeed_all(rig);
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    assert_int_equal(rig_view(rig).counts.queued, 0);
    rig_free(rig);
}

static void turned_off_it_never_opens(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.breaker.off = true;
    rig->concurrency = 30;
    rig_open(rig);
    rig_push_many(rig, 30);
    rig_rest(rig);
    rig_fail_all(rig, 503);
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    assert_int_equal(rig_look(rig, "m30")->attempts, 1);
    rig_free(rig);
}

static void turning_it_off_while_it_is_open_lets_everything_go(void **state) {
    (void)state;
    struct rig *rig = rig_of(5);
    rig_break_down(rig);
    rig_push(rig, "new");
    rig_rest(rig);
    struct policy without = rig->policy;
    without.breaker.off = true;
    struct engine_rules rules = {
        .policy = &without, .concurrency = 5, .dlqs = rig->dlqs, .dlq_count = 2};
    struct rig_request *asked = rig_request(rig, ENGINE_RELOAD);
    asked->request.rules = &rules;
    engine_ask(rig->engine, &asked->request);
    rig_rest(rig);
    assert_non_null(rig_call(rig, "new"));
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_failures_in_a_row_stop_everything),
        cmocka_unit_test(a_downstream_that_names_a_time_is_left_alone_until_then),
        cmocka_unit_test(the_first_probe_is_one_that_was_never_attempted),
        cmocka_unit_test(a_failed_probe_is_in_the_history_and_counts_nowhere),
        cmocka_unit_test(probes_are_new_messages_first_then_what_was_handed_over_longest_ago),
        cmocka_unit_test(two_that_always_fail_are_dead_after_a_bounded_number_of_calls),
        cmocka_unit_test(without_evidence_max_age_ends_it),
        cmocka_unit_test(a_probe_that_fails_first_of_all_starts_max_age_unless_it_is_an_outage),
        cmocka_unit_test(an_outage_that_lasts_kills_nothing),
        cmocka_unit_test(a_failure_after_another_message_succeeded_counts_as_an_attempt),
        cmocka_unit_test(a_users_rule_that_says_dlq_is_carried_out_on_a_probe),
        cmocka_unit_test(resume_ends_the_wait_of_an_open_breaker),
        cmocka_unit_test(a_message_that_is_alone_probes_again_and_again),
        cmocka_unit_test(beside_two_that_fail_a_healthy_one_is_tried_within_a_second),
        cmocka_unit_test(arrivals_are_probed_at_most_once_a_second),
        cmocka_unit_test(a_delayed_message_ends_the_wait_when_its_delay_is_over),
        cmocka_unit_test(what_was_under_way_when_it_opened_burns_no_attempt),
        cmocka_unit_test(those_that_opened_it_were_counted),
        cmocka_unit_test(rounds_double_until_it_closes_and_traffic_flows),
        cmocka_unit_test(a_terminal_verdict_on_a_probe_is_carried_out_and_proves_life),
        cmocka_unit_test(an_old_slow_probe_is_awaited_without_spinning),
        cmocka_unit_test(a_round_that_lacks_messages_waits_for_them_without_spinning),
        cmocka_unit_test(turned_off_it_never_opens),
        cmocka_unit_test(turning_it_off_while_it_is_open_lets_everything_go),
    };
    return cmocka_run_group_tests_name("breaker", tests, NULL, NULL);
}
