/* Workers that fetch: who gets what and when, and what a lease that runs out means. */
#include "lease_rig.h"

#include <stdio.h>

#include "store/fake_store.h"

static void a_worker_gets_what_there_is_up_to_what_it_wants(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched first, second, third;
    rig_push_many(rig, 5);
    lease_rig_fetch(rig, &first, 3);
    lease_rig_fetch(rig, &second, 3);
    lease_rig_fetch(rig, &third, 3);
    assert_int_equal(first.count, 3);
    assert_string_equal(first.ids[0], "m1");
    assert_string_equal(first.ids[2], "m3");
    assert_int_equal(first.attempts[0], 1);
    assert_int_equal(second.count, 2);
    assert_string_equal(second.ids[0], "m4");
    assert_int_equal(third.count, 0);
    assert_int_equal(third.asked->answers, 1);
    assert_int_equal(rig_view(rig).in_flight, 5);
    assert_string_equal(rig_view(rig).handler, "lease");
    assert_int_equal(rig_state(rig, "m1"), STATE_RUNNING);
    rig_free(rig);
}

static void a_lease_is_durable_before_its_worker_hears_of_it(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){.deferred = true});
    struct fetched fetched;
    rig_push(rig, "a");
    lease_rig_fetch(rig, &fetched, 1);
    rig_assert_log(rig, "submit:update(a)");
    assert_int_equal(fetched.asked->answers, 0);
    rig_store(rig);
    assert_int_equal(fetched.asked->answers, 1);
    assert_int_equal(fetched.count, 1);
    assert_int_equal(rig_look(rig, "a")->lease_ms, LEASE_MS);
    rig_free(rig);
}

static void a_lease_that_cannot_be_recorded_is_nobodys(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched refused, given;
    rig_push(rig, "a");
    fake_store_fail(rig->store, STATUS_FULL, 1);
    lease_rig_fetch(rig, &refused, 1);
    assert_int_equal(refused.asked->answers, 1);
    assert_int_equal(refused.asked->status, STATUS_FULL);
    assert_int_equal(refused.count, 0);
    assert_int_equal(rig_view(rig).in_flight, 0);
    assert_int_equal(rig_state(rig, "a"), STATE_QUEUED);
    lease_rig_fetch(rig, &given, 1);
    assert_int_equal(given.count, 1);
    rig_free(rig);
}

static void a_worker_waits_until_something_comes(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched first, second;
    lease_rig_ask(rig, &first, 5, 1000);
    lease_rig_ask(rig, &second, 5, 1000);
    rig_rest(rig);
    assert_int_equal(first.asked->answers, 0);
    rig_push(rig, "a");
    rig_rest(rig);
    assert_int_equal(first.count, 1);
    assert_int_equal(second.asked->answers, 0);
    rig_push(rig, "b");
    rig_rest(rig);
    assert_int_equal(second.count, 1);
    rig_free(rig);
}

static void a_worker_that_waited_long_enough_gets_nothing(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched fetched;
    lease_rig_ask(rig, &fetched, 5, 1000);
    rig_rest(rig);
    assert_int_equal(rig->next.ms, rig->now.mono.ms + 1000);
    rig_pass(rig, 999);
    assert_int_equal(fetched.asked->answers, 0);
    rig_pass(rig, 1);
    assert_int_equal(fetched.asked->answers, 1);
    assert_int_equal(fetched.asked->status, STATUS_OK);
    assert_int_equal(fetched.count, 0);
    rig_push(rig, "a");
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_QUEUED);
    rig_free(rig);
}

static void who_has_gone_away_gets_nothing(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched gone, present;
    lease_rig_ask(rig, &gone, 5, 1000);
    lease_rig_ask(rig, &present, 5, 1000);
    gone.gone = true;
    rig_push(rig, "a");
    rig_rest(rig);
    assert_int_equal(gone.asked->answers, 1);
    assert_int_equal(gone.count, 0);
    assert_int_equal(present.count, 1);
    rig_free(rig);
}

static void what_nobody_is_left_to_take_stays_queued(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched gone, later;
    lease_rig_ask(rig, &gone, 5, 1000);
    gone.gone = true;
    rig_push_many(rig, 2);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "m1"), STATE_QUEUED);
    lease_rig_fetch(rig, &later, 2);
    assert_int_equal(later.count, 2);
    rig_free(rig);
}

static void concurrency_bounds_what_is_leased(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.lease = true});
    struct fetched first, second;
    rig->concurrency = 2;
    rig_open(rig);
    rig_push_many(rig, 3);
    lease_rig_fetch(rig, &first, 5);
    assert_int_equal(first.count, 2);
    lease_rig_ask(rig, &second, 5, 1000);
    rig_rest(rig);
    assert_int_equal(second.asked->answers, 0);
    assert_int_equal(lease_rig_ack(rig, first.leases[0]), STATUS_OK);
    assert_int_equal(second.count, 1);
    rig_free(rig);
}

static void nothing_is_leased_from_a_queue_with_a_handler(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    struct fetched fetched;
    rig_open(rig);
    lease_rig_fetch(rig, &fetched, 1);
    assert_int_equal(fetched.asked->status, STATUS_CONFLICT);
    assert_non_null(strstr(fetched.asked->request.err.text, "handler: lease"));
    rig_free(rig);
}

static void nothing_is_leased_while_paused_but_answers_are_taken(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched before, during;
    rig_push_many(rig, 2);
    lease_rig_fetch(rig, &before, 1);
    rig_ask(rig, ENGINE_PAUSE, "lunch");
    rig_rest(rig);
    lease_rig_fetch(rig, &during, 1);
    assert_int_equal(during.asked->answers, 1);
    assert_int_equal(during.count, 0);
    assert_int_equal(lease_rig_ack(rig, before.leases[0]), STATUS_OK);
    rig_assert_gone(rig, "m1");
    rig_free(rig);
}

/* ---- leases that run out ---- */

static void an_expired_lease_is_an_attempt_and_leaves_a_suspect(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched fetched;
    rig_push(rig, "a");
    lease_rig_fetch(rig, &fetched, 1);
    rig_pass(rig, LEASE_MS - 1);
    assert_int_equal(rig_state(rig, "a"), STATE_RUNNING);
    rig_pass(rig, 1);
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_int_equal(envelope->kind, KIND_EXPIRED);
    assert_int_equal(envelope->attempts, 1);
    assert_int_equal(envelope->crashes, 0);
    assert_int_equal(envelope->lease_ms, 0);
    assert_true(envelope->suspect);
    assert_int_equal(rig_view(rig).leases_expired, 1);
    rig_free(rig);
}

/* The suspect is due, and new ones wait. */
static void let_one_expire(struct rig *rig) {
    struct fetched fetched;
    rig_push(rig, "suspect");
    lease_rig_fetch(rig, &fetched, 1);
    rig_pass(rig, LEASE_MS);
    rig_pass(rig, 1000);
}

static void a_suspect_is_alone_in_its_answer_while_others_flow(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched first, second;
    let_one_expire(rig);
    rig_push_many(rig, 3);
    lease_rig_ask(rig, &first, 10, 0);
    lease_rig_ask(rig, &second, 10, 0);
    rig_rest(rig);
    assert_int_equal(first.count, 1);
    assert_string_equal(first.ids[0], "suspect");
    assert_int_equal(first.attempts[0], 2);
    assert_int_equal(second.count, 3);
    rig_free(rig);
}

static void a_suspect_does_not_join_an_answer_that_has_begun(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched worker, mixed, alone;
    rig_push(rig, "plain");
    lease_rig_fetch(rig, &worker, 1);
    assert_int_equal(lease_rig_fail(rig, worker.leases[0], "ConnectionError"), STATUS_OK);
    let_one_expire(rig);
    lease_rig_fetch(rig, &mixed, 10);
    assert_int_equal(mixed.count, 1);
    assert_string_equal(mixed.ids[0], "plain");
    lease_rig_fetch(rig, &alone, 10);
    assert_int_equal(alone.count, 1);
    assert_string_equal(alone.ids[0], "suspect");
    rig_free(rig);
}

static void expiring_alone_is_a_crash_and_three_of_them_the_end(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    let_one_expire(rig);
    for (uint32_t crashes = 1; crashes <= 3; crashes++) {
        struct fetched fetched;
        rig_pass(rig, 60000);
        lease_rig_fetch(rig, &fetched, 10);
        assert_int_equal(fetched.count, 1);
        rig_pass(rig, LEASE_MS);
        assert_int_equal(rig_look(rig, "suspect")->crashes, crashes);
    }
    const struct envelope *envelope = rig_look(rig, "suspect");
    assert_int_equal(envelope->state, STATE_PENDING_REVIEW);
    assert_int_equal(envelope->cause, CAUSE_CRASH);
    assert_int_equal(envelope->attempts, 4);
    rig_free(rig);
}

static void any_answer_clears_a_suspect(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched fetched;
    let_one_expire(rig);
    lease_rig_fetch(rig, &fetched, 1);
    assert_int_equal(lease_rig_fail(rig, fetched.leases[0], "ConnectionError"), STATUS_OK);
    assert_false(rig_look(rig, "suspect")->suspect);
    rig_pass(rig, 60000);
    rig_push(rig, "b");
    lease_rig_fetch(rig, &fetched, 10);
    assert_int_equal(fetched.count, 2);
    rig_free(rig);
}

static void probes_go_out_one_to_an_answer(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched fetched, probe, other;
    rig_push_many(rig, 9);
    lease_rig_fetch(rig, &fetched, 5);
    rig_pass(rig, LEASE_MS);
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
    lease_rig_fetch(rig, &other, 5);
    assert_int_equal(other.count, 0);
    rig_pass(rig, BREAKER_FIRST_OPEN_MS);
    lease_rig_ask(rig, &probe, 5, 0);
    lease_rig_ask(rig, &other, 5, 0);
    rig_rest(rig);
    assert_int_equal(probe.count, 1);
    assert_int_equal(other.count, 0);
    assert_int_equal(lease_rig_ack(rig, probe.leases[0]), STATUS_OK);
    lease_rig_ask(rig, &probe, 5, 0);
    lease_rig_ask(rig, &other, 5, 0);
    rig_rest(rig);
    assert_int_equal(probe.count, 1);
    assert_int_equal(other.count, 1);
    rig_free(rig);
}

/* ---- stopping and starting ---- */

static void a_stop_answers_who_waits_and_leaves_leases_alone(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched leased, waiting, late;
    rig_push(rig, "a");
    lease_rig_fetch(rig, &leased, 1);
    lease_rig_ask(rig, &waiting, 1, 60000);
    rig_rest(rig);
    engine_hold(rig->engine, 100);
    rig_rest(rig);
    assert_int_equal(waiting.asked->answers, 1);
    assert_int_equal(waiting.asked->status, STATUS_OK);
    assert_int_equal(waiting.count, 0);
    lease_rig_fetch(rig, &late, 1);
    assert_int_equal(late.asked->status, STATUS_BUSY);
    engine_stop(rig->engine);
    engine_run(rig->engine); /* returns: a lease does not keep us */
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->lease_ms, LEASE_MS);
    assert_int_equal(envelope->history_count, 0);
    rig_free(rig);
}

static void an_answer_is_taken_while_we_stop(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched leased;
    rig_push(rig, "a");
    lease_rig_fetch(rig, &leased, 1);
    engine_hold(rig->engine, 100);
    assert_int_equal(lease_rig_ack(rig, leased.leases[0]), STATUS_OK);
    rig_assert_gone(rig, "a");
    rig_free(rig);
}

static void on_put(struct store_commit *commit, enum status status) {
    (void)commit;
    assert_int_equal(status, STATUS_OK);
}

/* As a life before this one left it. */
static void put_leased(struct rig *rig, const char *id, uint64_t secret) {
    struct envelope envelope = {.id = bytes_of(id),
                                .queue = BYTES("q"),
                                .content_type = BYTES("application/json"),
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1,
                                .created_at = rig->now.wall,
                                .lease = secret,
                                .lease_ms = LEASE_MS};
    struct store_op op = {.kind = STORE_PUT,
                          .queue = rig->store->vtable->queue_number(rig->store, BYTES("q")),
                          .envelope = &envelope,
                          .body = BYTES("{}")};
    struct store_commit commit = {.ops = &op, .count = 1, .done = on_put};
    rig->submit(rig->store, &commit);
    snprintf(rig->ids[op.seq], RIG_ID_SIZE, "%s", id);
}

static void leases_run_their_full_time_again_after_a_restart(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.lease = true});
    struct fetched fetched;
    put_leased(rig, "acked", 7);
    put_leased(rig, "silent", 8);
    rig_open(rig);
    rig_rest(rig);
    assert_int_equal(rig_view(rig).in_flight, 2);
    lease_rig_fetch(rig, &fetched, 5);
    assert_int_equal(fetched.count, 0);
    rig_pass(rig, LEASE_MS - 1);
    assert_int_equal(lease_rig_ack(rig, "00000000000000010000000000000007"), STATUS_OK);
    rig_assert_gone(rig, "acked");
    assert_int_equal(rig_look(rig, "silent")->attempts, 0);
    rig_pass(rig, 1);
    assert_int_equal(rig_look(rig, "silent")->attempts, 1);
    rig_free(rig);
}

static void a_queue_that_now_has_a_handler_honours_its_old_leases(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    put_leased(rig, "a", 7);
    rig_open(rig);
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_pass(rig, LEASE_MS);
    rig_pass(rig, 1000);
    assert_int_equal(rig_open_calls(rig), 1);
    assert_int_equal(rig_call(rig, "a")->attempt, 2);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_gets_what_there_is_up_to_what_it_wants),
        cmocka_unit_test(a_lease_is_durable_before_its_worker_hears_of_it),
        cmocka_unit_test(a_lease_that_cannot_be_recorded_is_nobodys),
        cmocka_unit_test(a_worker_waits_until_something_comes),
        cmocka_unit_test(a_worker_that_waited_long_enough_gets_nothing),
        cmocka_unit_test(who_has_gone_away_gets_nothing),
        cmocka_unit_test(what_nobody_is_left_to_take_stays_queued),
        cmocka_unit_test(concurrency_bounds_what_is_leased),
        cmocka_unit_test(nothing_is_leased_from_a_queue_with_a_handler),
        cmocka_unit_test(nothing_is_leased_while_paused_but_answers_are_taken),
        cmocka_unit_test(an_expired_lease_is_an_attempt_and_leaves_a_suspect),
        cmocka_unit_test(a_suspect_is_alone_in_its_answer_while_others_flow),
        cmocka_unit_test(a_suspect_does_not_join_an_answer_that_has_begun),
        cmocka_unit_test(expiring_alone_is_a_crash_and_three_of_them_the_end),
        cmocka_unit_test(any_answer_clears_a_suspect),
        cmocka_unit_test(probes_go_out_one_to_an_answer),
        cmocka_unit_test(a_stop_answers_who_waits_and_leaves_leases_alone),
        cmocka_unit_test(an_answer_is_taken_while_we_stop),
        cmocka_unit_test(leases_run_their_full_time_again_after_a_restart),
        cmocka_unit_test(a_queue_that_now_has_a_handler_honours_its_old_leases),
    };
    return cmocka_run_group_tests_name("engine lease", tests, NULL, NULL);
}
