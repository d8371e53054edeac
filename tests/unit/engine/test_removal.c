/* Messages that people bury or discard before they are dead (SEMANTICS 4.8). */
#include "lease_rig.h"
#include "rig_sink.h"

#include <string.h>

#include "store/fake_store.h"

struct removed {
    struct rig_request *asked;
    struct engine_removal removal;
};

/* Asked, not yet read. */
static void ask(struct rig *rig, struct removed *out, enum engine_request_kind kind,
                const char *id) {
    static struct store_keep audit = {
        .space = SPACE_AUDIT, .name = {"entry", 5}, .value = {"{}", 2}, .expires = {0}};
    *out = (struct removed){.asked = rig_request(rig, kind)};
    assert_non_null(rig_look(rig, id));
    out->removal.seq = rig->looked_at->seq;
    out->asked->request.why = BYTES("wrong customer");
    out->asked->request.keep = &audit;
    out->asked->request.removal = &out->removal;
    out->asked->request.removal_count = 1;
    engine_ask(rig->engine, &out->asked->request);
}

static enum status remove_it(struct rig *rig, enum engine_request_kind kind, const char *id) {
    struct removed removed;
    ask(rig, &removed, kind, id);
    rig_rest(rig);
    assert_int_equal(removed.asked->answers, 1);
    assert_int_equal(removed.asked->status, STATUS_OK);
    return removed.removal.status;
}

static bool is_audited(struct rig *rig) {
    struct arena arena;
    struct bytes value;
    arena_init_heap(&arena, 256);
    bool kept = letters_note(rig->store->letters, 0, SPACE_AUDIT, BYTES("entry"), rig->now.wall,
                             &arena, &value, NULL) == STATUS_OK;
    arena_free(&arena);
    return kept;
}

static struct rig *paused(void) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_ask(rig, ENGINE_PAUSE, "so that they wait");
    rig_rest(rig);
    return rig;
}

static void a_queued_message_is_buried_with_a_why(void **state) {
    (void)state;
    struct rig *rig = paused();
    rig_push(rig, "a");
    assert_int_equal(remove_it(rig, ENGINE_BURY, "a"), STATUS_OK);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->cause, CAUSE_OPERATOR);
    assert_true(bytes_is(letter->why, "wrong customer"));
    assert_true(bytes_is(letter->dlq, "q.dlq"));
    assert_int_equal(letter->attempts, 0);
    assert_true(letter->letter_id.len > 0);
    assert_true(is_audited(rig));
    assert_true(rig_saw_event(rig, "\"type\":\"letter\""));
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 1);
    rig_free(rig);
}

static void a_message_that_waits_for_its_retry_is_discarded(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    assert_int_equal(remove_it(rig, ENGINE_DISCARD, "a"), STATUS_OK);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_DISCARDED);
    assert_true(bytes_is(letter->category, "transient"));
    assert_int_equal(rig->store->vtable->dlq_depth(rig->store, BYTES("q.dlq")), 0);
    rig_pass(rig, 60000);
    assert_int_equal(rig_open_calls(rig), 0);
    rig_free(rig);
}

static void a_running_message_is_left_alone_and_its_time_is_told(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    struct removed removed;
    rig->handler_list[0].timeout_ms = 30000;
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_pass(rig, 10000);
    ask(rig, &removed, ENGINE_BURY, "a");
    rig_rest(rig);
    assert_int_equal(removed.removal.status, STATUS_CONFLICT);
    assert_non_null(strstr(removed.removal.err.text, "20s left"));
    assert_false(is_audited(rig));
    rig_succeed(rig, "a");
    rig_assert_gone(rig, "a");
    rig_free(rig);
}

static void a_leased_message_is_buried_and_its_lease_is_over(void **state) {
    (void)state;
    struct rig *rig = lease_rig_new((struct rig_options){0});
    struct fetched fetched;
    rig_push(rig, "a");
    rig_push(rig, "b");
    lease_rig_fetch(rig, &fetched, 1);
    assert_int_equal(remove_it(rig, ENGINE_BURY, "a"), STATUS_OK);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_int_equal(rig_view(rig).in_flight, 0);
    assert_int_equal(lease_rig_ack(rig, fetched.leases[0]), STATUS_CONFLICT);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    rig_pass(rig, 2 * LEASE_MS);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    lease_rig_fetch(rig, &fetched, 1);
    assert_string_equal(fetched.ids[0], "b");
    rig_free(rig);
}

static struct rig *ordered(void) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig->rules.order = ORDER_KEY;
    rig->rules.blocked_limit = 1000;
    rig_open(rig);
    rig_ask(rig, ENGINE_PAUSE, "so that they wait");
    rig_rest(rig);
    for (char id[] = "a1"; id[1] <= '3'; id[1]++)
        rig_push_message(rig, id, "a", NULL);
    return rig;
}

static void go_on(struct rig *rig) {
    rig_ask(rig, ENGINE_RESUME, NULL);
    rig_rest(rig);
}

static void burying_an_ordered_head_closes_its_key(void **state) {
    (void)state;
    struct rig *rig = ordered();
    assert_int_equal(remove_it(rig, ENGINE_BURY, "a1"), STATUS_OK);
    go_on(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    assert_true(rig_look(rig, "a2")->blocked_by.len > 0);
    rig_free(rig);
}

static void discarding_an_ordered_head_opens_its_key(void **state) {
    (void)state;
    struct rig *rig = ordered();
    assert_int_equal(remove_it(rig, ENGINE_DISCARD, "a1"), STATUS_OK);
    go_on(rig);
    assert_non_null(rig_call(rig, "a2"));
    rig_free(rig);
}

static void a_message_that_its_key_holds_back_can_be_discarded(void **state) {
    (void)state;
    struct rig *rig = ordered();
    assert_int_equal(remove_it(rig, ENGINE_DISCARD, "a2"), STATUS_OK);
    go_on(rig);
    rig_succeed(rig, "a1");
    assert_non_null(rig_call(rig, "a3"));
    rig_free(rig);
}

static void a_message_that_its_key_holds_back_can_be_buried(void **state) {
    (void)state;
    struct rig *rig = ordered();
    assert_int_equal(remove_it(rig, ENGINE_BURY, "a2"), STATUS_OK);
    go_on(rig);
    rig_succeed(rig, "a1");
    assert_int_equal(rig_open_calls(rig), 0); /* a2 closes the key for a3 */
    assert_int_equal(rig_state(rig, "a3"), STATE_QUEUED);
    rig_free(rig);
}

/* ---- DLQs: full, routed, mirrored, spilling ---- */

/* One letter is in its DLQ, of cap 1; "a" waits in a paused queue. */
static struct rig *full(struct rig_options options, enum on_full on_full) {
    struct rig *rig = rig_new(options);
    rig->dlqs[0].cap = 1;
    rig->dlqs[0].on_full = on_full;
    rig_open(rig);
    rig_push(rig, "dead");
    rig_rest(rig);
    rig_fail(rig, "dead", 422);
    rig_ask(rig, ENGINE_PAUSE, "so that it waits");
    rig_push(rig, "a");
    rig_rest(rig);
    return rig;
}

static void make_room(struct rig *rig) {
    rig->dlqs[0].cap = 10;
    rig_pass(rig, QUEUE_FULL_POLL_MS);
}

static void a_message_that_is_buried_into_a_full_dlq_waits_for_room(void **state) {
    (void)state;
    struct rig *rig = full((struct rig_options){0}, ON_FULL_BLOCK);
    assert_int_equal(remove_it(rig, ENGINE_BURY, "a"), STATUS_OK);
    const struct envelope *waits = rig_look(rig, "a");
    assert_int_equal(waits->state, STATE_PENDING_RETRY);
    assert_true(envelope_awaits_room(waits));
    assert_bytes(waits->why, "dlq q.dlq is full; wrong customer");
    assert_int_equal(waits->cause, CAUSE_OPERATOR);
    assert_true(is_audited(rig));
    assert_int_equal(rig_depth(rig, "q.dlq"), 1);
    go_on(rig);
    assert_int_equal(rig_open_calls(rig), 0);
    make_room(rig);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->cause, CAUSE_OPERATOR);
    assert_bytes(letter->why, "wrong customer");
    assert_int_equal(letter->letter_id.len, 36);
    rig_free(rig);
}

static void a_message_that_waits_for_room_can_be_buried_and_goes_on_waiting(void **state) {
    (void)state;
    struct rig *rig = full((struct rig_options){0}, ON_FULL_BLOCK);
    go_on(rig);
    rig_fail(rig, "a", 422);
    assert_true(envelope_awaits_room(rig_look(rig, "a")));
    assert_int_equal(remove_it(rig, ENGINE_BURY, "a"), STATUS_OK);
    assert_true(envelope_awaits_room(rig_look(rig, "a")));
    assert_bytes(rig_look(rig, "a")->why, "dlq q.dlq is full; wrong customer");
    assert_bytes(rig_look(rig, "a")->dlq, "q.dlq");
    make_room(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_int_equal(rig_look(rig, "a")->cause, CAUSE_OPERATOR);
    assert_bytes(rig_look(rig, "a")->reason, "bad_request");
    rig_free(rig);
}

static void a_message_that_waits_for_room_can_be_discarded(void **state) {
    (void)state;
    struct rig *rig = full((struct rig_options){0}, ON_FULL_BLOCK);
    go_on(rig);
    rig_fail(rig, "a", 422);
    assert_int_equal(remove_it(rig, ENGINE_DISCARD, "a"), STATUS_OK);
    assert_int_equal(rig_state(rig, "a"), STATE_DISCARDED);
    assert_bytes(rig_look(rig, "a")->why, "wrong customer");
    assert_int_equal(rig_view(rig).counts.awaiting_room, 0);
    make_room(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_DISCARDED);
    assert_int_equal(rig_depth(rig, "q.dlq"), 1);
    rig_free(rig);
}

static void a_buried_message_goes_where_its_category_is_routed(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.routes[0] = (struct dlq_route){BYTES("transient"), BYTES("q.bad")};
    rig->policy.route_count = 1;
    rig->dlqs[0].cap = 1; /* full, and not its own */
    rig_open(rig);
    rig_push(rig, "dead");
    rig_rest(rig);
    rig_fail(rig, "dead", 422);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    assert_int_equal(remove_it(rig, ENGINE_BURY, "a"), STATUS_OK);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_bytes(rig_look(rig, "a")->dlq, "q.bad");
    assert_int_equal(rig_depth(rig, "q.bad"), 1);
    rig_free(rig);
}

static struct rig *mirrored(struct rig_sink *sink) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig_sink_init(sink);
    rig->mirrors[0] = (struct engine_mirror){BYTES("q.dlq"), &sink->sink};
    rig->mirror_count = 1;
    rig_open(rig);
    rig_ask(rig, ENGINE_PAUSE, "so that they wait");
    rig_rest(rig);
    rig_push_message(rig, "a", "k", "{\"pin\":1}");
    return rig;
}

static void a_buried_message_is_in_its_mirror_before_the_answer(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = mirrored(&sink);
    struct removed removed;
    ask(rig, &removed, ENGINE_BURY, "a");
    rig_rest(rig);
    assert_int_equal(removed.asked->answers, 0);
    assert_int_not_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_int_equal(sink.count, 1);
    assert_bytes(sink.items[0]->body, "{\"pin\":1}");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    assert_int_equal(removed.asked->answers, 1);
    assert_int_equal(removed.removal.status, STATUS_OK);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_true(is_audited(rig));
    rig_free(rig);
}

static void a_mirror_that_takes_nothing_is_told_at_once_and_it_is_done_later(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = mirrored(&sink);
    struct removed removed;
    ask(rig, &removed, ENGINE_BURY, "a");
    rig_rest(rig);
    rig_sink_take(rig, &sink, 0, STATUS_IO);
    assert_int_equal(removed.asked->answers, 1);
    assert_int_equal(removed.removal.status, STATUS_BUSY);
    assert_false(is_audited(rig));
    removed.asked->request.keep = NULL; /* it was the asker's */
    rig_pass(rig, 1000);
    assert_int_equal(sink.count, 2);
    rig_sink_take(rig, &sink, 1, STATUS_OK);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_true(is_audited(rig));
    assert_int_equal(removed.asked->answers, 1);
    rig_free(rig);
}

static void a_buried_message_that_spills_is_answered_with_its_envelope(void **state) {
    (void)state;
    struct rig *rig = full((struct rig_options){.spill = true}, ON_FULL_SPILL);
    struct removed removed;
    struct json envelope, value;
    ask(rig, &removed, ENGINE_BURY, "a");
    rig_rest(rig);
    assert_int_equal(removed.removal.status, STATUS_OK);
    rig_assert_gone(rig, "a");
    assert_true(rig->spilled.len > 0);
    assert_int_equal(json_parse(buf_view(&removed.removal.spilled), &envelope, NULL), STATUS_OK);
    assert_true(json_get(envelope, "cause", &value));
    assert_bytes(value.text, "\"operator\"");
    assert_true(json_get(envelope, "why", &value));
    assert_bytes(value.text, "\"wrong customer\"");
    assert_true(is_audited(rig));
    buf_free(&removed.removal.spilled);
    rig_free(rig);
}

static void a_leased_message_that_spills_has_its_body_in_the_answer(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.spill = true, .lease = true});
    struct fetched fetched;
    struct removed removed;
    rig->dlqs[0].cap = 0;
    rig->dlqs[0].on_full = ON_FULL_SPILL;
    rig_open(rig);
    rig_push_message(rig, "a", NULL, "{\"pin\":1}");
    lease_rig_fetch(rig, &fetched, 1);
    ask(rig, &removed, ENGINE_BURY, "a");
    rig_rest(rig);
    assert_int_equal(removed.removal.status, STATUS_OK);
    rig_assert_gone(rig, "a");
    assert_non_null(strstr(buf_cstr(&removed.removal.spilled), "\"body\":{\"pin\":1}"));
    buf_free(&removed.removal.spilled);
    rig_free(rig);
}

static void while_the_store_cannot_commit_the_request_says_so_and_it_is_done_later(void **state) {
    (void)state;
    struct rig *rig = paused();
    struct removed removed;
    rig_push(rig, "a");
    ask(rig, &removed, ENGINE_BURY, "a");
    fake_store_fail(rig->store, STATUS_FULL, 1);
    rig_rest(rig);
    assert_int_equal(removed.asked->answers, 1);
    assert_int_equal(removed.removal.status, STATUS_BUSY);
    assert_false(is_audited(rig));
    removed.asked->request.keep = NULL; /* it was the asker's */
    rig_pass(rig, RECORD_RETRY_FIRST_MS);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_true(is_audited(rig));
    rig_free(rig);
}

static void the_refused_message_that_halted_its_queue_can_be_buried(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 403);
    rig_pass(rig, OPINION_WAIT_MS);
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    assert_int_equal(remove_it(rig, ENGINE_BURY, "a"), STATUS_OK);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    rig_push(rig, "b");
    go_on(rig);
    rig_succeed(rig, "b");
    assert_int_equal(rig_open_calls(rig), 0);
    assert_int_equal(rig_view(rig).state, QUEUE_RUNNING);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queued_message_is_buried_with_a_why),
        cmocka_unit_test(a_message_that_waits_for_its_retry_is_discarded),
        cmocka_unit_test(a_running_message_is_left_alone_and_its_time_is_told),
        cmocka_unit_test(a_leased_message_is_buried_and_its_lease_is_over),
        cmocka_unit_test(burying_an_ordered_head_closes_its_key),
        cmocka_unit_test(discarding_an_ordered_head_opens_its_key),
        cmocka_unit_test(a_message_that_its_key_holds_back_can_be_discarded),
        cmocka_unit_test(a_message_that_its_key_holds_back_can_be_buried),
        cmocka_unit_test(a_message_that_is_buried_into_a_full_dlq_waits_for_room),
        cmocka_unit_test(a_message_that_waits_for_room_can_be_buried_and_goes_on_waiting),
        cmocka_unit_test(a_message_that_waits_for_room_can_be_discarded),
        cmocka_unit_test(a_buried_message_goes_where_its_category_is_routed),
        cmocka_unit_test(a_buried_message_is_in_its_mirror_before_the_answer),
        cmocka_unit_test(a_mirror_that_takes_nothing_is_told_at_once_and_it_is_done_later),
        cmocka_unit_test(a_buried_message_that_spills_is_answered_with_its_envelope),
        cmocka_unit_test(a_leased_message_that_spills_has_its_body_in_the_answer),
        cmocka_unit_test(while_the_store_cannot_commit_the_request_says_so_and_it_is_done_later),
        cmocka_unit_test(the_refused_message_that_halted_its_queue_can_be_buried),
    };
    return cmocka_run_group_tests_name("removal", tests, NULL, NULL);
}
