/* Several messages in one hand-over: who is blamed, and how often (SEMANTICS §7). */
#include "rig_groups.h"

#include <stdio.h>

static struct rig *bench(uint32_t batch, uint32_t concurrency, size_t handlers) {
    struct rig *rig = rig_new((struct rig_options){.batch = batch, .handlers = handlers});
    rig->concurrency = concurrency;
    rig_open(rig);
    return rig;
}

static struct rig *bench_of(size_t messages) {
    struct rig *rig = bench((uint32_t)messages, (uint32_t)messages, 0);
    rig_push_many(rig, messages);
    rig_rest(rig);
    return rig;
}

static const struct outcome good = {.ending = ENDING_OK, .retry_after_ms = -1};

/* ---- what goes together ---- */

static void what_is_ready_goes_together_up_to_the_batch(void **state) {
    (void)state;
    struct rig *rig = bench(3, 8, 0);
    rig_push_many(rig, 7);
    rig_rest(rig);
    rig_assert_log(rig, "start[m1 m2 m3] start[m4 m5 m6] start[m7]");
    assert_int_equal(rig_view(rig).in_flight, 7);
    rig_push(rig, "late");
    rig_rest(rig);
    rig_assert_log(rig, "start[late]");
    rig_free(rig);
}

static void concurrency_counts_messages(void **state) {
    (void)state;
    struct rig *rig = bench(3, 4, 0);
    rig_push_many(rig, 9);
    rig_rest(rig);
    rig_assert_log(rig, "start[m1 m2 m3] start[m4]");
    rig_groups_end(rig, good);
    rig_assert_log(rig, "start[m5 m6 m7] submit:forget(m1) submit:forget(m2) submit:forget(m3) "
                        "settle(m1) settle(m2) settle(m3)");
    rig_free(rig);
}

static void due_retries_and_new_messages_share_a_batch(void **state) {
    (void)state;
    struct rig *rig = bench(4, 4, 0);
    rig_push(rig, "old");
    rig_rest(rig);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 503));
    rig_clear_log(rig);
    rig->now.mono.ms += 1000;
    rig->now.wall.ms += 1000;
    rig_push(rig, "new");
    rig_rest(rig);
    rig_assert_log(rig, "start[old new]");
    rig_free(rig);
}

static void a_probe_goes_alone(void **state) {
    (void)state;
    struct rig *rig = bench(8, 8, 0);
    for (int i = 0; i < 5; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "f%d", i);
        rig_push(rig, id);
        rig_rest(rig);
        rig_groups_end(rig, rig_outcome(KIND_STATUS, 503));
    }
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    rig_push_many(rig, 8);
    rig_rest(rig);
    assert_int_equal(rig_groups_open(rig), 0);
    rig_pass(rig, 1000);
    assert_int_equal(rig_groups_open(rig), 1);
    rig_groups_end(rig, good);
    assert_int_equal(rig_groups_open(rig), 2); /* the next round is of two */
    assert_int_equal(rig_groups_size(rig, 0), 1);
    assert_int_equal(rig_groups_size(rig, 1), 1);
    rig_free(rig);
}

/* ---- items ---- */

static void an_item_that_is_listed_fails_alone(void **state) {
    (void)state;
    struct rig *rig = bench_of(4);
    struct outcome listed = rig_outcome(KIND_REPORTED, 422);
    rig_groups_end_but(rig, "m3", listed);
    rig_assert_gone(rig, "m1");
    rig_assert_gone(rig, "m2");
    rig_assert_gone(rig, "m4");
    const struct envelope *letter = rig_look(rig, "m3");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->attempts, 1);
    assert_int_equal(letter->cause, CAUSE_TERMINAL);
    assert_int_equal(rig_groups_started(rig), 1);
    rig_free(rig);
}

static void an_item_without_words_is_retried_as_batch_item(void **state) {
    (void)state;
    struct rig *rig = bench_of(2);
    struct outcome listed = {.ending = ENDING_FAILED,
                             .kind = KIND_REPORTED,
                             .error_type = BYTES(OUTCOME_BATCH_ITEM),
                             .retry_after_ms = -1};
    rig_groups_end_but(rig, "m2", listed);
    const struct envelope *waiting = rig_look(rig, "m2");
    assert_int_equal(waiting->state, STATE_PENDING_RETRY);
    assert_bytes(waiting->category, "batch_item");
    assert_bytes(waiting->reason, "batch_item");
    rig_free(rig);
}

/* ---- a whole that fails ---- */

static void a_busy_downstream_fails_every_item_once(void **state) {
    (void)state;
    struct rig *rig = bench_of(4);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 503));
    assert_int_equal(rig_groups_started(rig), 1);
    for (const char *const *id = (const char *const[]){"m1", "m2", "m3", "m4", NULL}; *id; id++) {
        const struct envelope *waiting = rig_look(rig, *id);
        assert_int_equal(waiting->state, STATE_PENDING_RETRY);
        assert_int_equal(waiting->attempts, 1);
    }
    rig_free(rig);
}

static void a_terminal_verdict_is_halved_until_exactly_the_bad_ones_are_found(void **state) {
    (void)state;
    struct rig *rig = bench_of(100);
    rig_groups_end_all(rig, "m7 m42 m99", rig_outcome(KIND_STATUS, 422));
    for (size_t i = 1; i <= 100; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "m%zu", i);
        if (i != 7 && i != 42 && i != 99) {
            rig_assert_gone(rig, id);
            continue;
        }
        const struct envelope *letter = rig_look(rig, id);
        assert_int_equal(letter->state, STATE_PENDING_REVIEW);
        assert_int_equal(letter->attempts, 1);
        assert_int_equal(letter->history_count, 1);
    }
    struct engine_queue_view view = rig_view(rig);
    assert_int_equal(view.results[RESULT_OK], 97);
    assert_int_equal(view.results[RESULT_DLQ], 3);
    assert_int_equal(view.in_flight, 0);
    rig_free(rig);
}

static void halves_go_at_once_and_within_the_attempt(void **state) {
    (void)state;
    struct rig *rig = bench_of(4);
    rig_clear_log(rig);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 422));
    rig_assert_log(rig, "start[m1 m2] start[m3 m4]");
    rig_groups_end(rig, good);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 422));
    assert_int_equal(rig->groups[0]->calls[0]->attempt, 1);
    rig_groups_end_all(rig, "m4", rig_outcome(KIND_STATUS, 422));
    rig_assert_gone(rig, "m3");
    assert_int_equal(rig_look(rig, "m4")->attempts, 1);
    rig_free(rig);
}

static void a_reset_adds_a_crash_to_the_one_that_is_alone_with_it(void **state) {
    (void)state;
    struct rig *rig = bench_of(8);
    rig_groups_end_all(rig, "m5", rig_outcome(KIND_RESET, 0));
    assert_int_equal(rig_look(rig, "m5")->crashes, 1);
    assert_int_equal(rig_look(rig, "m5")->attempts, 1);
    assert_int_equal(rig_view(rig).results[RESULT_OK], 7);
    rig_free(rig);
}

static void rules_may_part_the_messages_of_a_batch(void **state) {
    (void)state;
    struct rule rule = {.when = {.statuses = {{422, 422}}, .status_count = 1, .attempts = {2, 9}},
                        .verdict = VERDICT_RETRY,
                        .name = BYTES("q.rules[0]")};
    struct rig *rig = rig_new((struct rig_options){.batch = 4});
    rig->policy.rules = &rule;
    rig->policy.rule_count = 1;
    rig_open(rig);
    rig_push(rig, "second");
    rig_rest(rig);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 503));
    rig->now.mono.ms += 1000;
    rig->now.wall.ms += 1000;
    rig_push(rig, "first");
    rig_rest(rig);
    assert_int_equal(rig_groups_size(rig, 0), 2);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 422)); /* a retry for one, the end of the other */
    assert_int_equal(rig_state(rig, "second"), STATE_PENDING_RETRY);
    assert_int_equal(rig_groups_open(rig), 1);
    assert_true(rig_groups_has(rig, 0, "first"));
    rig_groups_end(rig, good);
    rig_assert_gone(rig, "first");
    rig_free(rig);
}

/* ---- the breaker ---- */

static void the_breaker_hears_one_word_of_each_hand_over(void **state) {
    (void)state;
    struct rig *rig = bench(40, 200, 0);
    rig_push_many(rig, 200);
    rig_rest(rig);
    assert_int_equal(rig_groups_open(rig), 5);
    for (int i = 0; i < 4; i++)
        rig_groups_end(rig, rig_outcome(KIND_STATUS, 503));
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 503));
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    rig_free(rig);
}

static void poison_that_is_found_by_halving_opens_no_breaker(void **state) {
    (void)state;
    struct rig *rig = bench_of(64);
    rig_groups_end_all(rig, "m1 m30 m64", rig_outcome(KIND_STATUS, 500));
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    assert_int_equal(rig_view(rig).results[RESULT_DLQ], 3);
    rig_free(rig);
}

/* As many as would have died one by one before the breaker knew. */
static void an_outage_that_looks_terminal_ends_few_of_a_batch(void **state) {
    (void)state;
    struct rig *rig = bench_of(64);
    while (rig_groups_open(rig))
        rig_groups_end(rig, rig_outcome(KIND_STATUS, 500));
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    assert_int_equal(rig_view(rig).results[RESULT_DLQ], 5);
    assert_int_equal(rig_view(rig).results[RESULT_PROBE_FAILED], 59);
    assert_int_equal(rig_view(rig).in_flight, 0);
    rig_free(rig);
}

static void items_that_all_fail_for_the_downstreams_sake_are_one_bad_word(void **state) {
    (void)state;
    struct rig *rig = bench(2, 2, 0);
    struct outcome busy = rig_outcome(KIND_REPORTED, 503);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "a%d", i);
        rig_push(rig, id);
        rig_rest(rig);
        rig_groups_end_but(rig, id, busy);
    }
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    rig_free(rig);
}

static void one_item_that_succeeds_is_a_good_word(void **state) {
    (void)state;
    struct rig *rig = bench(2, 2, 0);
    struct outcome busy = rig_outcome(KIND_REPORTED, 503);
    for (int i = 0; i < 6; i++) {
        char id[RIG_ID_SIZE], beside[RIG_ID_SIZE];
        snprintf(id, sizeof id, "a%d", i);
        snprintf(beside, sizeof beside, "b%d", i);
        rig_push(rig, i % 2 ? id : beside);
        rig_push(rig, i % 2 ? beside : id);
        rig_rest(rig);
        rig_groups_end_but(rig, id, busy);
    }
    assert_int_equal(rig_view(rig).breaker, BREAKER_CLOSED);
    rig_free(rig);
}

/* ---- fallbacks, jq, stopping ---- */

static void those_that_fall_back_are_bundled_again(void **state) {
    (void)state;
    struct rule rule = {.when = {.statuses = {{404, 404}}, .status_count = 1},
                        .verdict = VERDICT_FALLBACK,
                        .name = BYTES("q.rules[0]")};
    struct rig *rig = rig_new((struct rig_options){.batch = 4, .handlers = 2});
    rig->policy.rules = &rule;
    rig->policy.rule_count = 1;
    rig_open(rig);
    rig_push_many(rig, 3);
    rig_rest(rig);
    rig_clear_log(rig);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 404));
    rig_assert_log(rig, "start[m1 m2 m3]");
    assert_int_equal(rig->groups[0]->calls[0]->fallback, 1);
    rig_groups_end(rig, good);
    assert_int_equal(rig_view(rig).results[RESULT_OK], 3);
    assert_int_equal(rig_view(rig).fallbacks, 3);
    rig_free(rig);
}

static void a_batch_waits_for_what_jq_says_of_each(void **state) {
    (void)state;
    struct rule rule = {.when = {.jq = BYTES(".x")}, .verdict = VERDICT_RETRY, .name = BYTES("r")};
    struct rig *rig = rig_new((struct rig_options){.batch = 4, .jq = true});
    rig->policy.rules = &rule;
    rig->policy.rule_count = 1;
    rig_open(rig);
    rig_push_many(rig, 2);
    rig_rest(rig);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 422));
    rig_jq_answer(rig, 0, STATUS_OK, false);
    rig_rest(rig);
    assert_int_equal(rig_groups_open(rig), 0);
    rig_jq_answer(rig, 1, STATUS_OK, true);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "m2"), STATE_PENDING_RETRY);
    assert_int_equal(rig_groups_open(rig), 1);
    assert_true(rig_groups_has(rig, 0, "m1"));
    rig_free(rig);
}

static void after_the_drain_a_batch_is_interrupted_and_not_halved(void **state) {
    (void)state;
    struct rig *rig = bench_of(4);
    rig_clear_log(rig);
    engine_hold(rig->engine, 100);
    rig_rest(rig);
    rig_pass(rig, 100);
    rig_assert_log(rig, "submit:facts cancel[m1 m2 m3 m4]");
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 422)); /* it had ended otherwise before */
    assert_int_equal(rig_groups_open(rig), 0);
    for (const char *const *id = (const char *const[]){"m1", "m2", "m3", "m4", NULL}; *id; id++) {
        const struct envelope *queued = rig_look(rig, *id);
        assert_int_equal(queued->state, STATE_QUEUED);
        assert_int_equal(queued->attempts, 0);
    }
    rig_free(rig);
}

/* Leaks are the sanitizer's to find. */
static void an_engine_that_ends_in_the_middle_of_halving_leaves_nothing_behind(void **state) {
    (void)state;
    struct rig *rig = bench_of(8);
    rig_groups_end(rig, rig_outcome(KIND_STATUS, 422));
    rig_groups_end(rig, good);
    assert_int_equal(rig_groups_open(rig), 1);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_ready_goes_together_up_to_the_batch),
        cmocka_unit_test(concurrency_counts_messages),
        cmocka_unit_test(due_retries_and_new_messages_share_a_batch),
        cmocka_unit_test(a_probe_goes_alone),
        cmocka_unit_test(an_item_that_is_listed_fails_alone),
        cmocka_unit_test(an_item_without_words_is_retried_as_batch_item),
        cmocka_unit_test(a_busy_downstream_fails_every_item_once),
        cmocka_unit_test(a_terminal_verdict_is_halved_until_exactly_the_bad_ones_are_found),
        cmocka_unit_test(halves_go_at_once_and_within_the_attempt),
        cmocka_unit_test(a_reset_adds_a_crash_to_the_one_that_is_alone_with_it),
        cmocka_unit_test(rules_may_part_the_messages_of_a_batch),
        cmocka_unit_test(the_breaker_hears_one_word_of_each_hand_over),
        cmocka_unit_test(poison_that_is_found_by_halving_opens_no_breaker),
        cmocka_unit_test(an_outage_that_looks_terminal_ends_few_of_a_batch),
        cmocka_unit_test(items_that_all_fail_for_the_downstreams_sake_are_one_bad_word),
        cmocka_unit_test(one_item_that_succeeds_is_a_good_word),
        cmocka_unit_test(those_that_fall_back_are_bundled_again),
        cmocka_unit_test(a_batch_waits_for_what_jq_says_of_each),
        cmocka_unit_test(after_the_drain_a_batch_is_interrupted_and_not_halved),
        cmocka_unit_test(an_engine_that_ends_in_the_middle_of_halving_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
