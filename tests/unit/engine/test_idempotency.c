/* Idempotency: what succeeded once is not run again, and what runs is waited for. */
#include "lease_rig.h"

#include <stdio.h>

#include "store/fake_store.h"

enum { DEDUPE_MS = 60 * 1000 };

static struct rig *by_body(const char *path) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig->rules.idempotency =
        (struct engine_idempotency){.path = bytes_of(path), .dedupe_ms = DEDUPE_MS};
    return rig;
}

static void push(struct rig *rig, const char *id, const char *body) {
    rig_push_message(rig, id, NULL, body);
    rig_rest(rig);
}

static uint64_t duplicates(struct rig *rig) {
    return rig_view(rig).results[RESULT_DUPLICATE];
}

static void what_succeeded_is_not_run_again_while_it_is_remembered(void **state) {
    (void)state;
    struct rig *rig = by_body(".n");
    rig_open(rig);
    push(rig, "a", "{\"n\":1}");
    rig_succeed(rig, "a");
    rig_assert_log(rig, "start(a) submit:keep(#1) submit:forget(a) settle(a)");
    push(rig, "b", "{\"n\":1}");
    rig_assert_log(rig, "submit:forget(b) settle(b)");
    rig_assert_gone(rig, "b");
    assert_int_equal(duplicates(rig), 1);
    rig_pass(rig, DEDUPE_MS - 1);
    push(rig, "c", "{\"n\":1}");
    assert_int_equal(duplicates(rig), 2);
    rig_pass(rig, 1);
    push(rig, "d", "{\"n\":1}");
    assert_non_null(rig_call(rig, "d"));
    rig_free(rig);
}

static void while_one_runs_others_with_its_key_wait(void **state) {
    (void)state;
    struct rig *rig = by_body(".n");
    rig_open(rig);
    push(rig, "a", "{\"n\":1}");
    push(rig, "b", "{\"n\":1}");
    push(rig, "c", "{\"n\":1}");
    push(rig, "other", "{\"n\":2}");
    rig_assert_log(rig, "start(a) start(other)");
    assert_int_equal(rig_state(rig, "b"), STATE_QUEUED);
    rig_pass(rig, 3600 * 1000);
    assert_int_equal(rig_open_calls(rig), 2);
    rig_succeed(rig, "a");
    rig_assert_gone(rig, "b");
    rig_assert_gone(rig, "c");
    assert_int_equal(duplicates(rig), 2);
    rig_free(rig);
}

static void when_it_fails_the_next_one_runs(void **state) {
    (void)state;
    struct rig *rig = by_body(".n");
    rig_open(rig);
    push(rig, "a", "{\"n\":1}");
    push(rig, "b", "{\"n\":1}");
    push(rig, "c", "{\"n\":1}");
    rig_fail(rig, "a", 400);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_non_null(rig_call(rig, "b"));
    assert_null(rig_call(rig, "c"));
    rig_fail(rig, "b", 503);
    assert_non_null(rig_call(rig, "c"));
    rig_succeed(rig, "c");
    rig_pass(rig, 1000);
    rig_assert_gone(rig, "b"); /* its retry is a duplicate */
    assert_int_equal(duplicates(rig), 1);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_free(rig);
}

static void the_key_is_free_only_when_the_end_is_durable(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig->rules.idempotency =
        (struct engine_idempotency){.path = BYTES(".n"), .dedupe_ms = DEDUPE_MS};
    rig_open(rig);
    push(rig, "a", "{\"n\":1}");
    push(rig, "b", "{\"n\":1}");
    rig_succeed(rig, "a");
    assert_non_null(rig_look(rig, "b"));
    fake_store_fail(rig->store, STATUS_IO, 1);
    rig_store(rig);
    assert_non_null(rig_look(rig, "b"));
    assert_int_equal(rig_open_calls(rig), 0);
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    rig_store(rig);
    rig_store(rig);
    rig_assert_gone(rig, "b");
    assert_int_equal(rig->call_count, 1);
    rig_free(rig);
}

static void keys_are_exact(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "{\"n\":1}",
        "{\"n\":1.0}",
        "{\"n\":\"1\"}",
        "{\"n\":12345678901234567890}",
        "{\"n\":12345678901234567891}",
        "{\"n\":true}",
    };
    struct rig *rig = by_body(".n");
    rig->concurrency = 16;
    rig_open(rig);
    for (size_t i = 0; i < 6; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "m%zu", i);
        push(rig, id, bodies[i]);
    }
    assert_int_equal(rig_open_calls(rig), 6);
    push(rig, "same", "{\"x\":0, \"n\" : \"\\u0031\"}");
    assert_int_equal(rig_open_calls(rig), 6);
    rig_free(rig);
}

static void without_a_key_everything_runs(void **state) {
    (void)state;
    static const char *const bodies[] = {"{}", "{\"n\":null}", "{\"n\":{}}", "{\"n\":[1]}",
                                         "no json"};
    struct rig *rig = by_body(".n");
    rig->concurrency = 16;
    rig_open(rig);
    for (size_t i = 0; i < 10; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "m%zu", i);
        push(rig, id, bodies[i % 5]);
    }
    assert_int_equal(rig_open_calls(rig), 10);
    rig_free(rig);
}

static void keys_longer_than_a_name_differ_in_their_last_byte(void **state) {
    (void)state;
    char body[2048];
    struct rig *rig = by_body(".n");
    rig_open(rig);
    for (int i = 0; i < 3; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "m%d", i);
        snprintf(body, sizeof body, "{\"n\":\"%01000d\"}", i % 2);
        push(rig, id, body);
    }
    assert_int_equal(rig_open_calls(rig), 2);
    rig_succeed(rig, "m0");
    rig_assert_gone(rig, "m2");
    rig_free(rig);
}

static void a_restart_forgets_who_waited_and_remembers_what_succeeded(void **state) {
    (void)state;
    struct rig *rig = by_body(".n");
    rig_open(rig);
    push(rig, "a", "{\"n\":1}");
    rig_succeed(rig, "a");
    rig_restart(rig);
    push(rig, "b", "{\"n\":1}");
    rig_assert_gone(rig, "b");
    assert_int_equal(rig->call_count, 1);
    rig_free(rig);
}

static void a_duplicate_gets_the_first_answer_under_its_own_id(void **state) {
    (void)state;
    struct rig *rig = by_body(".n");
    rig_open(rig);
    push(rig, "a", "{\"n\":1}");
    rig_succeed(rig, "a");
    struct store_op keep = {
        .kind = STORE_KEEP,
        .queue = rig->store->vtable->queue_number(rig->store, BYTES("q")),
        .keep = {.space = SPACE_RESULT, .name = BYTES("a"), .value = BYTES("{\"id\":\"a\"}")}};
    rig_commit(rig, &keep);
    push(rig, "b", "{\"n\":1}");
    struct arena arena;
    struct bytes value;
    arena_init_heap(&arena, 256);
    assert_int_equal(letters_note(rig->store->letters, 0, SPACE_RESULT, BYTES("b"), rig->now.wall,
                                  &arena, &value, NULL),
                     STATUS_OK);
    assert_bytes(value, "{\"id\":\"a\"}");
    arena_free(&arena);
    rig_free(rig);
}

static void a_replayed_duplicate_ends_resolved(void **state) {
    (void)state;
    struct rig *rig = by_body(".n");
    rig_open(rig);
    push(rig, "a", "{\"n\":1}");
    rig_fail(rig, "a", 400);
    push(rig, "b", "{\"n\":1}");
    rig_succeed(rig, "b");
    struct envelope letter = *rig_look(rig, "a");
    letter.state = STATE_REPLAYING;
    struct store_op op = {.kind = STORE_UPDATE,
                          .queue = rig->store->vtable->queue_number(rig->store, BYTES("q")),
                          .seq = rig->looked_at->seq,
                          .envelope = &letter};
    rig_commit(rig, &op);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_RESOLVED);
    assert_int_equal(rig->looked_at->envelope.resolution, RESOLUTION_DUPLICATE);
    assert_int_equal(rig->call_count, 2);
    rig_free(rig);
}

static void a_broken_down_queue_probes_with_those_who_waited(void **state) {
    (void)state;
    struct rig *rig = by_body(".n");
    rig->concurrency = 8;
    rig_open(rig);
    push(rig, "a", "{\"n\":1}");
    push(rig, "b", "{\"n\":1}");
    rig_break_down(rig);
    rig_fail(rig, "a", 400);
    rig_pass(rig, 30 * 1000);
    assert_non_null(rig_call(rig, "b"));
    rig_free(rig);
}

static void thousands_of_duplicates_take_bounded_turns(void **state) {
    (void)state;
    struct rig *rig = by_body(".n");
    rig_open(rig);
    push(rig, "first", "{\"n\":1}");
    rig_succeed(rig, "first");
    for (int i = 0; i < 3000; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "m%d", i);
        rig_push_message(rig, id, NULL, "{\"n\":1}");
    }
    rig_clear_log(rig);
    rig_turn(rig);
    assert_true(rig->engine->queues[0]->settling <= QUEUE_SETTLING_MAX);
    rig_rest(rig);
    assert_int_equal(duplicates(rig), 3000);
    assert_int_equal(rig->call_count, 1);
    rig_free(rig);
}

static struct rig *leasing(void) {
    struct rig *rig = lease_rig_new((struct rig_options){0});
    rig->rules.idempotency =
        (struct engine_idempotency){.path = BYTES(".n"), .dedupe_ms = DEDUPE_MS};
    rig_restart(rig);
    return rig;
}

static void what_is_leased_has_its_key_until_it_is_answered(void **state) {
    (void)state;
    struct rig *rig = leasing();
    struct fetched first, second;
    push(rig, "a", "{\"n\":1}");
    push(rig, "b", "{\"n\":1}");
    lease_rig_fetch(rig, &first, 5);
    assert_int_equal(first.count, 1);
    lease_rig_fetch(rig, &second, 5);
    assert_int_equal(second.count, 0);
    assert_int_equal(duplicates(rig), 0);
    rig_clear_log(rig);
    assert_int_equal(lease_rig_ack(rig, first.leases[0]), STATUS_OK);
    rig_assert_log(rig, "submit:keep(#1) submit:forget(a) settle(a)");
    lease_rig_fetch(rig, &second, 5);
    assert_int_equal(second.count, 0);
    rig_assert_gone(rig, "b");
    assert_int_equal(duplicates(rig), 1);
    rig_free(rig);
}

static void a_lease_that_runs_out_frees_its_key(void **state) {
    (void)state;
    struct rig *rig = leasing();
    struct fetched first, second;
    push(rig, "a", "{\"n\":1}");
    push(rig, "b", "{\"n\":1}");
    lease_rig_fetch(rig, &first, 5);
    rig_pass(rig, LEASE_MS);
    lease_rig_fetch(rig, &second, 1);
    assert_int_equal(second.count, 1);
    assert_string_equal(second.ids[0], "b");
    rig_free(rig);
}

static void a_header_can_be_the_key(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->rules.idempotency =
        (struct engine_idempotency){.header = BYTES("Idempotency-Key"), .dedupe_ms = DEDUPE_MS};
    rig_open(rig);
    for (int i = 0; i < 3; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "m%d", i);
        struct rule_header header = {BYTES("idempotency-key"), i < 2 ? BYTES("x") : BYTES("y")};
        struct envelope envelope = {.id = bytes_of(id),
                                    .queue = BYTES("q"),
                                    .headers = &header,
                                    .header_count = 1,
                                    .source = BYTES("{\"kind\":\"builtin\"}"),
                                    .retry_after_ms = -1};
        struct store_op op = {.kind = STORE_PUT,
                              .queue = rig->store->vtable->queue_number(rig->store, BYTES("q")),
                              .envelope = &envelope,
                              .body = BYTES("1")};
        rig_commit(rig, &op);
    }
    rig_rest(rig);
    assert_int_equal(rig_open_calls(rig), 2);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_succeeded_is_not_run_again_while_it_is_remembered),
        cmocka_unit_test(while_one_runs_others_with_its_key_wait),
        cmocka_unit_test(when_it_fails_the_next_one_runs),
        cmocka_unit_test(the_key_is_free_only_when_the_end_is_durable),
        cmocka_unit_test(keys_are_exact),
        cmocka_unit_test(without_a_key_everything_runs),
        cmocka_unit_test(keys_longer_than_a_name_differ_in_their_last_byte),
        cmocka_unit_test(a_restart_forgets_who_waited_and_remembers_what_succeeded),
        cmocka_unit_test(a_duplicate_gets_the_first_answer_under_its_own_id),
        cmocka_unit_test(a_replayed_duplicate_ends_resolved),
        cmocka_unit_test(a_broken_down_queue_probes_with_those_who_waited),
        cmocka_unit_test(thousands_of_duplicates_take_bounded_turns),
        cmocka_unit_test(what_is_leased_has_its_key_until_it_is_answered),
        cmocka_unit_test(a_lease_that_runs_out_frees_its_key),
        cmocka_unit_test(a_header_can_be_the_key),
    };
    return cmocka_run_group_tests_name("idempotency", tests, NULL, NULL);
}
