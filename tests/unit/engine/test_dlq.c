/* Dead letters: what they say, where they go, and what a full DLQ means. */
#include "rig.h"

#include <stdio.h>

#include "store/fake_store.h"

static void a_letter_says_what_happened(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    struct wall started = rig->now.wall;
    rig_pass(rig, 50);
    struct outcome outcome = rig_outcome(KIND_STATUS, 422);
    outcome.stack_trace = BYTES("at checkout (cart.js:3)");
    outcome.version = BYTES("1.2.3");
    rig_answer(rig, "a", outcome);
    rig_rest(rig);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->letter_id.len, 36);
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->cause, CAUSE_TERMINAL);
    assert_bytes(letter->dlq, "q.dlq");
    assert_bytes(letter->category, "validation");
    assert_bytes(letter->reason, "bad_request");
    assert_bytes(letter->rule, "preset:http[9]");
    assert_bytes(letter->owner, "people");
    assert_int_equal(letter->kind, KIND_STATUS);
    assert_int_equal(letter->status, 422);
    assert_bytes(letter->error_type, "Upstream");
    assert_bytes(letter->error_message, "it said no");
    assert_bytes(letter->stack_trace, "at checkout (cart.js:3)");
    assert_bytes(letter->instance, "bench");
    assert_bytes(letter->version, "1.2.3");
    assert_int_equal(letter->attempts, 1);
    assert_int_equal(letter->max_attempts, 5);
    assert_int_equal(letter->first_attempt_at.ms, started.ms);
    assert_int_equal(letter->first_failure_at.ms, started.ms + 50);
    assert_int_equal(letter->dead_at.ms, started.ms + 50);
    assert_int_equal(letter->next_attempt_at.ms, WALL_NEVER.ms);
    assert_int_equal(letter->history_count, 1);
    assert_true(letter->history[0].counted);
    assert_int_equal(letter->history[0].at.ms, started.ms);
    assert_int_equal(letter->history[0].duration_ms, 7);
    assert_int_equal(letter->history[0].delay_ms, -1);
    assert_bytes(rig->looked_at->body, "{}");
    rig_free(rig);
}

static void what_no_rule_knows_is_unclassified(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push_and_fail(rig, "a", 418);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->cause, CAUSE_UNCLASSIFIED);
    assert_bytes(letter->category, "unknown");
    assert_bytes(letter->reason, "unclassified:Upstream");
    rig_free(rig);
}

static void a_category_goes_where_its_route_leads(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.routes[0] = (struct dlq_route){BYTES("validation"), BYTES("q.bad")};
    rig->policy.route_count = 1;
    rig_open(rig);
    rig_push_and_fail(rig, "a", 400);
    rig_push_and_fail(rig, "b", 404);
    assert_bytes(rig_look(rig, "a")->dlq, "q.bad");
    assert_bytes(rig_look(rig, "b")->dlq, "q.dlq");
    rig_free(rig);
}

static void a_discard_is_on_the_record_and_fills_nothing(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    struct outcome outcome = rig_outcome(KIND_STATUS, 200);
    outcome.has_verdict = true;
    outcome.verdict = VERDICT_DISCARD;
    outcome.reason = BYTES("unwanted");
    rig_answer(rig, "a", outcome);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_DISCARDED);
    assert_bytes(rig_look(rig, "a")->reason, "unwanted");
    assert_bytes(rig->looked_at->body, "{}");
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 0);
    assert_int_equal(rig_view(rig).results[RESULT_DISCARD], 1);
    rig_free(rig);
}

static void reset(struct rig *rig, const char *id, uint64_t connection) {
    struct outcome outcome = rig_outcome(KIND_RESET, 0);
    outcome.connection = connection;
    rig_answer(rig, id, outcome);
    rig_rest(rig);
}

static void succeed_on(struct rig *rig, const char *id, uint64_t connection) {
    rig_push(rig, id);
    rig_rest(rig);
    rig_answer(
        rig, id,
        (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1, .connection = connection});
    rig_rest(rig);
}

static void the_third_crash_is_the_last(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    for (uint64_t i = 1; i <= 3; i++) {
        succeed_on(rig, "b", 2 * i);
        reset(rig, "a", 2 * i - 1);
        rig_pass(rig, 30000);
    }
    assert_int_equal(rig->call_count, 6);
    assert_int_equal(rig_look(rig, "a")->cause, CAUSE_CRASH);
    assert_bytes(rig_look(rig, "a")->category, "crash");
    assert_bytes(rig_look(rig, "a")->reason, "reset");
    assert_int_equal(rig_look(rig, "a")->crashes, 3);
    rig_free(rig);
}

/* A success on an older connection, one that is too long ago, none at all. */
static void a_reset_without_a_newer_success_is_no_crash(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    reset(rig, "a", 7);
    assert_int_equal(rig_look(rig, "a")->crashes, 0);
    assert_int_equal(rig_look(rig, "a")->attempts, 1);
    assert_bytes(rig_look(rig, "a")->category, "transient");
    succeed_on(rig, "b", 6);
    rig_pass(rig, 30000);
    reset(rig, "a", 7);
    assert_int_equal(rig_look(rig, "a")->crashes, 0);
    succeed_on(rig, "b", 8);
    rig_pass(rig, 61000);
    reset(rig, "a", 7);
    assert_int_equal(rig_look(rig, "a")->crashes, 0);
    assert_int_equal(rig_look(rig, "a")->attempts, 3);
    rig_free(rig);
}

/* ---- spill ---- */

static struct rig *rig_spilling(void) {
    struct rig *rig = rig_new((struct rig_options){.spill = true});
    rig->dlqs[0].cap = 1;
    rig->dlqs[0].on_full = ON_FULL_SPILL;
    rig_open(rig);
    rig_push_and_fail(rig, "first", 400);
    rig_push(rig, "a");
    rig_push(rig, "b");
    rig_rest(rig);
    rig_clear_log(rig);
    return rig;
}

static uint64_t spilled(struct rig *rig) {
    struct arena arena;
    struct letters_dlq dlq;
    arena_init_heap(&arena, 1024);
    letters_dlq(rig->store->letters, BYTES("q.dlq"), rig->now.wall, &arena, &dlq, NULL);
    arena_free(&arena);
    return dlq.spilled;
}

static void a_letter_is_safe_in_the_archive_before_it_is_forgotten(void **state) {
    (void)state;
    struct rig *rig = rig_spilling();
    rig_fail(rig, "a", 400);
    rig_assert_log(rig, "append sync submit:forget(a) settle(a)");
    rig_assert_gone(rig, "a");
    assert_int_equal(spilled(rig), 1);
    struct json line, value;
    assert_int_equal(json_parse(bytes_trim(buf_view(&rig->spilled)), &line, NULL), STATUS_OK);
    assert_true(json_get(line, "state", &value));
    assert_bytes(value.text, "\"pending_review\"");
    assert_true(json_get(line, "message", &value) && json_get(value, "body", &value));
    assert_bytes(value.text, "{}");
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 1);
    rig_free(rig);
}

static void letters_of_one_turn_share_a_sync(void **state) {
    (void)state;
    struct rig *rig = rig_spilling();
    rig_answer(rig, "a", rig_outcome(KIND_STATUS, 400));
    rig_fail(rig, "b", 400);
    rig_assert_log(rig, "append append sync submit:forget(a) submit:forget(b) settle(a) settle(b)");
    rig_free(rig);
}

static void an_archive_that_fails_holds_up_only_its_own(void **state) {
    (void)state;
    struct rig *rig = rig_spilling();
    rig->spill_appends_fail = 1;
    rig_answer(rig, "a", rig_outcome(KIND_STATUS, 400));
    rig_succeed(rig, "b");
    rig_assert_log(rig, "append submit:forget(b) settle(b)");
    assert_non_null(rig_look(rig, "a"));
    rig_push(rig, "next");
    rig_pass(rig, RECORD_RETRY_FIRST_MS - 1);
    rig_assert_log(rig, "");
    rig_pass(rig, 1);
    rig_assert_log(rig, "append sync submit:forget(a) settle(a) start(next)");
    assert_int_equal(spilled(rig), 1);
    rig_free(rig);
}

static void an_archive_that_does_not_sync_keeps_the_message(void **state) {
    (void)state;
    struct rig *rig = rig_spilling();
    rig->spill_syncs_fail = 2;
    rig_fail(rig, "a", 400);
    rig_assert_log(rig, "append sync");
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    rig_assert_log(rig, "append sync");
    assert_non_null(rig_look(rig, "a"));
    rig_pass(rig, 2 * RECORD_RETRY_FIRST_MS);
    rig_assert_log(rig, "append sync submit:forget(a) settle(a)");
    rig_free(rig);
}

static void a_letter_in_the_archive_is_not_put_there_again(void **state) {
    (void)state;
    struct rig *rig = rig_spilling();
    fake_store_fail(rig->store, STATUS_IO, 1);
    rig_fail(rig, "a", 400);
    rig_assert_log(rig, "append sync submit:forget(a)");
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    rig_assert_log(rig, "submit:forget(a) settle(a)");
    assert_int_equal(spilled(rig), 1);
    rig_free(rig);
}

/* Its archive failed, and before the next try its DLQ was told to block instead. */
static void a_letter_that_spills_no_longer_is_kept_beside_one_that_does(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.spill = true, .queues = 2});
    rig->dlqs[0].cap = 1;
    rig->dlqs[0].on_full = ON_FULL_SPILL;
    rig_open(rig);
    rig_push_and_fail(rig, "first", 400);
    rig_push(rig, "a");
    rig_push_to(rig, "q1", "beside");
    rig_rest(rig);
    rig->spill_appends_fail = 1;
    rig_fail(rig, "a", 400);
    struct engine_dlq blocks = rig->dlqs[0];
    blocks.on_full = ON_FULL_BLOCK;
    struct engine_rules rules = {
        .policy = &rig->policy, .concurrency = 1, .dlqs = &blocks, .dlq_count = 1};
    struct rig_request *reload = rig_request(rig, ENGINE_RELOAD);
    reload->request.rules = &rules;
    engine_ask(rig->engine, &reload->request);
    rig_answer(rig, "beside", rig_outcome(KIND_STATUS, 400));
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    rig_assert_gone(rig, "beside");
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

static void a_dlq_that_spills_receives_on(void **state) {
    (void)state;
    struct rig *rig = rig_spilling();
    rig_fail(rig, "a", 400);
    rig_push(rig, "next");
    rig_rest(rig);
    assert_non_null(rig_call(rig, "next"));
    assert_false(rig_view(rig).dlq_full);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_says_what_happened),
        cmocka_unit_test(what_no_rule_knows_is_unclassified),
        cmocka_unit_test(a_category_goes_where_its_route_leads),
        cmocka_unit_test(a_discard_is_on_the_record_and_fills_nothing),
        cmocka_unit_test(the_third_crash_is_the_last),
        cmocka_unit_test(a_reset_without_a_newer_success_is_no_crash),
        cmocka_unit_test(a_letter_is_safe_in_the_archive_before_it_is_forgotten),
        cmocka_unit_test(letters_of_one_turn_share_a_sync),
        cmocka_unit_test(an_archive_that_fails_holds_up_only_its_own),
        cmocka_unit_test(an_archive_that_does_not_sync_keeps_the_message),
        cmocka_unit_test(a_letter_in_the_archive_is_not_put_there_again),
        cmocka_unit_test(a_letter_that_spills_no_longer_is_kept_beside_one_that_does),
        cmocka_unit_test(a_dlq_that_spills_receives_on),
    };
    return cmocka_run_group_tests_name("dlq", tests, NULL, NULL);
}
