/* What workers say of their leases, in time and late, and what becomes of it. */
#include "lease_rig.h"

#include "store/fake_store.h"

struct scene {
    struct rig *rig;
    struct fetched fetched;
    const char *lease; /* of message "a" */
};

/* fetched holds pointers to itself, so the scene is filled where it stays. */
static void open_scene(struct scene *scene, struct rig_options options) {
    scene->rig = lease_rig_new(options);
    rig_push(scene->rig, "a");
    lease_rig_fetch(scene->rig, &scene->fetched, 1);
    if (options.deferred)
        rig_store(scene->rig);
    assert_int_equal(scene->fetched.count, 1);
    scene->lease = scene->fetched.leases[0];
    rig_clear_log(scene->rig);
}

static void an_ack_is_answered_when_it_is_durable(void **state) {
    (void)state;
    struct scene scene;
    struct answered ack;
    open_scene(&scene, (struct rig_options){.deferred = true});
    lease_rig_release(scene.rig, &ack, RELEASE_ACK, scene.lease);
    rig_rest(scene.rig);
    rig_assert_log(scene.rig, "submit:forget(a)");
    assert_int_equal(ack.asked->answers, 0);
    rig_store(scene.rig);
    assert_int_equal(ack.asked->answers, 1);
    assert_int_equal(ack.release.status, STATUS_OK);
    rig_assert_gone(scene.rig, "a");
    assert_int_equal(rig_view(scene.rig).in_flight, 0);
    rig_free(scene.rig);
}

static void a_failure_is_judged_and_the_next_lease_is_the_next_attempt(void **state) {
    (void)state;
    struct scene scene;
    struct fetched again;
    open_scene(&scene, (struct rig_options){0});
    rig_pass(scene.rig, 40);
    assert_int_equal(lease_rig_fail(scene.rig, scene.lease, "ConnectionError"), STATUS_OK);
    const struct envelope *envelope = rig_look(scene.rig, "a");
    assert_int_equal(envelope->state, STATE_PENDING_RETRY);
    assert_int_equal(envelope->kind, KIND_REPORTED);
    assert_int_equal(envelope->attempts, 1);
    assert_int_equal(envelope->history[0].duration_ms, 40);
    rig_pass(scene.rig, 1000);
    lease_rig_fetch(scene.rig, &again, 1);
    assert_int_equal(again.attempts[0], 2);
    assert_string_not_equal(again.leases[0], scene.lease);
    rig_free(scene.rig);
}

static void a_bug_is_dead_at_once(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, (struct rig_options){0});
    assert_int_equal(lease_rig_fail(scene.rig, scene.lease, "KeyError"), STATUS_OK);
    assert_int_equal(rig_state(scene.rig, "a"), STATE_PENDING_REVIEW);
    rig_free(scene.rig);
}

static void what_is_no_lease_is_not_found(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, (struct rig_options){0});
    static const char *const texts[] = {"",
                                        "x",
                                        "00000000000000000000000000000000",
                                        "ffffffffffffffffffffffffffffffff",
                                        "000000000000000100000000000000000",
                                        "0000000000000001000000000000000G"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(lease_rig_ack(scene.rig, texts[i]), STATUS_NOT_FOUND);
    assert_int_equal(rig_state(scene.rig, "a"), STATE_RUNNING);
    rig_free(scene.rig);
}

static void nothing_is_answered_twice(void **state) {
    (void)state;
    struct scene scene;
    struct answered first, second;
    open_scene(&scene, (struct rig_options){.deferred = true});
    lease_rig_release(scene.rig, &first, RELEASE_FAIL, scene.lease);
    first.release.outcome.error_type = BYTES("ConnectionError");
    lease_rig_release(scene.rig, &second, RELEASE_ACK, scene.lease);
    rig_rest(scene.rig);
    assert_int_equal(second.release.status, STATUS_CONFLICT);
    rig_store(scene.rig);
    assert_int_equal(first.release.status, STATUS_OK);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_CONFLICT);
    assert_int_equal(rig_state(scene.rig, "a"), STATE_PENDING_RETRY);
    rig_free(scene.rig);
}

static void an_ack_that_cannot_be_recorded_is_refused_and_recorded_later(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, (struct rig_options){0});
    fake_store_fail(scene.rig->store, STATUS_IO, 1);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_IO);
    assert_non_null(rig_look(scene.rig, "a"));
    rig_pass(scene.rig, RECORD_RETRY_FIRST_MS);
    rig_assert_gone(scene.rig, "a");
    rig_free(scene.rig);
}

static void a_request_is_answered_when_all_of_it_is(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){.deferred = true});
    struct fetched fetched;
    rig_push_many(rig, 3);
    lease_rig_fetch(rig, &fetched, 3);
    rig_store(rig);
    struct engine_release releases[] = {
        {.kind = RELEASE_ACK, .lease = bytes_of(fetched.leases[0])},
        {.kind = RELEASE_ACK, .lease = BYTES("nonsense")},
        {.kind = RELEASE_FAIL,
         .lease = bytes_of(fetched.leases[1]),
         .outcome = {.ending = ENDING_FAILED, .kind = KIND_REPORTED, .retry_after_ms = -1}},
        {.kind = RELEASE_EXTEND, .lease = bytes_of(fetched.leases[2]), .lease_ms = LEASE_MS},
    };
    struct rig_request *asked = rig_request(rig, ENGINE_RELEASE);
    asked->request.release = releases;
    asked->request.release_count = 4;
    engine_ask(rig->engine, &asked->request);
    rig_rest(rig);
    assert_int_equal(asked->answers, 0);
    rig_store(rig);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(releases[0].status, STATUS_OK);
    assert_int_equal(releases[1].status, STATUS_NOT_FOUND);
    assert_int_equal(releases[2].status, STATUS_OK);
    assert_int_equal(releases[3].status, STATUS_OK);
    rig_free(rig);
}

/* ---- late ---- */

static void expire(struct scene *scene) {
    rig_pass(scene->rig, LEASE_MS);
    assert_int_equal(rig_state(scene->rig, "a"), STATE_PENDING_RETRY);
}

static void a_late_ack_is_taken(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, (struct rig_options){0});
    expire(&scene);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_OK);
    rig_assert_gone(scene.rig, "a");
    rig_free(scene.rig);
}

static void a_late_failure_is_judged_as_the_attempt_that_expired(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, (struct rig_options){0});
    expire(&scene);
    assert_int_equal(lease_rig_fail(scene.rig, scene.lease, "ConnectionError"), STATUS_OK);
    const struct envelope *envelope = rig_look(scene.rig, "a");
    assert_int_equal(envelope->attempts, 1);
    assert_int_equal(envelope->kind, KIND_REPORTED);
    assert_false(envelope->suspect);
    assert_int_equal(envelope->history_count, 2);
    assert_int_equal(envelope->history[1].attempt, 1);
    assert_true(envelope->history[0].counted);
    assert_false(envelope->history[1].counted); /* once is enough */
    rig_free(scene.rig);
}

static void an_ack_that_comes_while_the_expiry_is_being_recorded_is_taken(void **state) {
    (void)state;
    struct scene scene;
    struct answered ack;
    open_scene(&scene, (struct rig_options){.deferred = true});
    rig_pass(scene.rig, LEASE_MS);
    lease_rig_release(scene.rig, &ack, RELEASE_ACK, scene.lease);
    rig_rest(scene.rig);
    assert_int_equal(ack.asked->answers, 0);
    rig_store(scene.rig);
    rig_store(scene.rig);
    assert_int_equal(ack.asked->answers, 1);
    assert_int_equal(ack.release.status, STATUS_OK);
    rig_assert_gone(scene.rig, "a");
    rig_free(scene.rig);
}

static void who_is_late_has_no_say_once_it_is_leased_again(void **state) {
    (void)state;
    struct scene scene;
    struct fetched again;
    open_scene(&scene, (struct rig_options){0});
    expire(&scene);
    rig_pass(scene.rig, 1000);
    lease_rig_fetch(scene.rig, &again, 1);
    assert_int_equal(again.count, 1);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_CONFLICT);
    assert_int_equal(lease_rig_fail(scene.rig, scene.lease, "KeyError"), STATUS_CONFLICT);
    assert_int_equal(lease_rig_extend(scene.rig, scene.lease, 1), STATUS_CONFLICT);
    rig_pass(scene.rig, LEASE_MS); /* … and has expired again */
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_CONFLICT);
    assert_int_equal(lease_rig_ack(scene.rig, again.leases[0]), STATUS_OK);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_NOT_FOUND);
    rig_free(scene.rig);
}

static void a_refused_answer_leaves_the_message_due_when_it_was(void **state) {
    (void)state;
    struct scene scene;
    struct fetched again;
    open_scene(&scene, (struct rig_options){0});
    expire(&scene);
    assert_int_equal(lease_rig_extend(scene.rig, scene.lease, LEASE_MS), STATUS_CONFLICT);
    rig_pass(scene.rig, 999);
    lease_rig_fetch(scene.rig, &again, 1);
    assert_int_equal(again.count, 0);
    rig_pass(scene.rig, 1);
    lease_rig_fetch(scene.rig, &again, 1);
    assert_int_equal(again.count, 1);
    rig_free(scene.rig);
}

/* ---- too late: it is a letter ---- */

/* The only attempt that it has is the silence. */
static void open_dead_scene(struct scene *scene, struct rig_options options) {
    scene->rig = lease_rig_new(options);
    scene->rig->policy.retry.attempts = 1;
    rig_push(scene->rig, "a");
    lease_rig_fetch(scene->rig, &scene->fetched, 1);
    scene->lease = scene->fetched.leases[0];
    rig_pass(scene->rig, LEASE_MS);
    assert_int_equal(rig_state(scene->rig, "a"), STATE_PENDING_REVIEW);
    rig_clear_log(scene->rig);
}

static void an_ack_resolves_the_letter_that_its_message_has_become(void **state) {
    (void)state;
    struct scene scene;
    open_dead_scene(&scene, (struct rig_options){0});
    struct wall died = rig_look(scene.rig, "a")->dead_at;
    rig_pass(scene.rig, 5);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_OK);
    const struct envelope *envelope = rig_look(scene.rig, "a");
    assert_int_equal(envelope->state, STATE_RESOLVED);
    assert_int_equal(envelope->resolution, RESOLUTION_BY_HAND);
    assert_int_equal(envelope->resolved_at.ms, died.ms + 5);
    assert_int_equal(envelope->dead_at.ms, died.ms);
    assert_int_equal(envelope->attempts, 1);
    assert_int_equal(envelope->history_count, 2);
    assert_true(envelope->history[1].ok);
    assert_int_equal(envelope->history[1].attempt, 1);
    assert_int_equal(rig_view(scene.rig).in_flight, 0);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_CONFLICT);
    rig_free(scene.rig);
}

static void a_failure_tells_of_what_it_died_and_leaves_it_dead(void **state) {
    (void)state;
    static const char *const types[] = {"KeyError", "ConnectionError"}; /* dead; to be retried */
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct scene scene;
        open_dead_scene(&scene, (struct rig_options){0});
        struct wall died = rig_look(scene.rig, "a")->dead_at;
        rig_pass(scene.rig, 5);
        assert_int_equal(lease_rig_fail(scene.rig, scene.lease, types[i]), STATUS_OK);
        const struct envelope *envelope = rig_look(scene.rig, "a");
        assert_int_equal(envelope->state, STATE_PENDING_REVIEW);
        assert_int_equal(envelope->cause, CAUSE_EXHAUSTED);
        assert_bytes(envelope->error_type, types[i]);
        assert_int_equal(envelope->dead_at.ms, died.ms);
        assert_int_equal(envelope->attempts, 1);
        assert_int_equal(envelope->history_count, 2);
        rig_free(scene.rig);
    }
}

static void an_extension_of_what_is_dead_is_refused(void **state) {
    (void)state;
    struct scene scene;
    open_dead_scene(&scene, (struct rig_options){0});
    assert_int_equal(lease_rig_extend(scene.rig, scene.lease, LEASE_MS), STATUS_CONFLICT);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_OK);
    rig_free(scene.rig);
}

static struct store_op discard(struct rig *rig) {
    return (struct store_op){.kind = STORE_MARK,
                             .queue = rig->store->vtable->queue_number(rig->store, BYTES("q")),
                             .seq = 1,
                             .mark = {.state = STATE_DISCARDED, .why = BYTES("not needed")}};
}

static void what_a_person_decided_meanwhile_stands(void **state) {
    (void)state;
    struct scene scene;
    open_dead_scene(&scene, (struct rig_options){0});
    struct store_op op = discard(scene.rig);
    rig_commit(scene.rig, &op);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_OK);
    assert_int_equal(rig_state(scene.rig, "a"), STATE_DISCARDED);
    rig_free(scene.rig);
}

static void an_answer_that_could_not_be_recorded_does_not_undo_it_later(void **state) {
    (void)state;
    struct scene scene;
    open_dead_scene(&scene, (struct rig_options){0});
    fake_store_fail(scene.rig->store, STATUS_IO, 1);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_IO);
    struct store_op op = discard(scene.rig);
    rig_commit(scene.rig, &op);
    rig_pass(scene.rig, RECORD_RETRY_FIRST_MS);
    assert_int_equal(rig_state(scene.rig, "a"), STATE_DISCARDED);
    assert_int_equal(rig_view(scene.rig).in_flight, 0);
    rig_free(scene.rig);
}

static void on_discarded(struct store_commit *commit, enum status status) {
    (void)commit;
    assert_int_equal(status, STATUS_OK);
}

static void who_comes_while_a_person_decides_is_told_to_say_it_again(void **state) {
    (void)state;
    struct scene scene;
    struct answered ack;
    open_scene(&scene, (struct rig_options){.deferred = true});
    scene.rig->policy.retry.attempts = 1;
    rig_pass(scene.rig, LEASE_MS);
    rig_store(scene.rig);
    struct store_op op = discard(scene.rig);
    struct store_commit commit = {.ops = &op, .count = 1, .done = on_discarded};
    scene.rig->submit(scene.rig->store, &commit);
    lease_rig_release(scene.rig, &ack, RELEASE_ACK, scene.lease);
    rig_rest(scene.rig);
    rig_store(scene.rig);
    assert_int_equal(ack.asked->answers, 1);
    assert_int_equal(ack.release.status, STATUS_BUSY);
    assert_int_equal(rig_state(scene.rig, "a"), STATE_DISCARDED);
    rig_free(scene.rig);
}

/* ---- extensions ---- */

static void an_extension_runs_from_now_and_costs_no_write(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, (struct rig_options){0});
    rig_pass(scene.rig, LEASE_MS - 1);
    assert_int_equal(lease_rig_extend(scene.rig, scene.lease, 0), STATUS_OK);
    rig_assert_log(scene.rig, "");
    rig_pass(scene.rig, LEASE_MS - 1);
    assert_int_equal(rig_state(scene.rig, "a"), STATE_RUNNING);
    rig_pass(scene.rig, 1);
    assert_int_equal(rig_state(scene.rig, "a"), STATE_PENDING_RETRY);
    rig_free(scene.rig);
}

static void a_longer_time_than_the_store_knows_is_durable_first(void **state) {
    (void)state;
    struct scene scene;
    struct answered extend;
    open_scene(&scene, (struct rig_options){.deferred = true});
    lease_rig_release(scene.rig, &extend, RELEASE_EXTEND, scene.lease);
    extend.release.lease_ms = 2 * LEASE_MS;
    rig_rest(scene.rig);
    rig_assert_log(scene.rig, "submit:update(a)");
    assert_int_equal(extend.asked->answers, 0);
    rig_store(scene.rig);
    assert_int_equal(extend.release.status, STATUS_OK);
    assert_int_equal(rig_look(scene.rig, "a")->lease_ms, 2 * LEASE_MS);
    rig_free(scene.rig);
}

static void an_ack_waits_for_the_extension_before_it(void **state) {
    (void)state;
    struct scene scene;
    struct answered extend, ack, again;
    open_scene(&scene, (struct rig_options){.deferred = true});
    lease_rig_release(scene.rig, &extend, RELEASE_EXTEND, scene.lease);
    extend.release.lease_ms = 2 * LEASE_MS;
    lease_rig_release(scene.rig, &ack, RELEASE_ACK, scene.lease);
    lease_rig_release(scene.rig, &again, RELEASE_ACK, scene.lease);
    rig_rest(scene.rig);
    assert_int_equal(ack.asked->answers, 0);
    assert_int_equal(again.release.status, STATUS_BUSY);
    rig_store(scene.rig);
    rig_store(scene.rig);
    assert_int_equal(extend.release.status, STATUS_OK);
    assert_int_equal(ack.release.status, STATUS_OK);
    rig_assert_gone(scene.rig, "a");
    rig_free(scene.rig);
}

static void an_extension_that_cannot_be_recorded_leaves_the_lease_alive(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, (struct rig_options){0});
    fake_store_fail(scene.rig->store, STATUS_FULL, 1);
    assert_int_equal(lease_rig_extend(scene.rig, scene.lease, 2 * LEASE_MS), STATUS_FULL);
    assert_int_equal(lease_rig_ack(scene.rig, scene.lease), STATUS_OK);
    rig_assert_gone(scene.rig, "a");
    rig_free(scene.rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ack_is_answered_when_it_is_durable),
        cmocka_unit_test(a_failure_is_judged_and_the_next_lease_is_the_next_attempt),
        cmocka_unit_test(a_bug_is_dead_at_once),
        cmocka_unit_test(what_is_no_lease_is_not_found),
        cmocka_unit_test(nothing_is_answered_twice),
        cmocka_unit_test(an_ack_that_cannot_be_recorded_is_refused_and_recorded_later),
        cmocka_unit_test(a_request_is_answered_when_all_of_it_is),
        cmocka_unit_test(a_late_ack_is_taken),
        cmocka_unit_test(a_late_failure_is_judged_as_the_attempt_that_expired),
        cmocka_unit_test(an_ack_that_comes_while_the_expiry_is_being_recorded_is_taken),
        cmocka_unit_test(who_is_late_has_no_say_once_it_is_leased_again),
        cmocka_unit_test(a_refused_answer_leaves_the_message_due_when_it_was),
        cmocka_unit_test(an_ack_resolves_the_letter_that_its_message_has_become),
        cmocka_unit_test(a_failure_tells_of_what_it_died_and_leaves_it_dead),
        cmocka_unit_test(an_extension_of_what_is_dead_is_refused),
        cmocka_unit_test(what_a_person_decided_meanwhile_stands),
        cmocka_unit_test(an_answer_that_could_not_be_recorded_does_not_undo_it_later),
        cmocka_unit_test(who_comes_while_a_person_decides_is_told_to_say_it_again),
        cmocka_unit_test(an_extension_runs_from_now_and_costs_no_write),
        cmocka_unit_test(a_longer_time_than_the_store_knows_is_durable_first),
        cmocka_unit_test(an_ack_waits_for_the_extension_before_it),
        cmocka_unit_test(an_extension_that_cannot_be_recorded_leaves_the_lease_alive),
    };
    return cmocka_run_group_tests_name("engine lease answers", tests, NULL, NULL);
}
