/* Answers: kept by the commit that forgets their message, or published before it. */
#include "rig_sink.h"

#include "base/memory.h"
#include "store/fake_store.h"

enum { DRAIN_MS = 100 };

static const struct outcome answered = {.ending = ENDING_OK,
                                        .answer = {"{\"n\": 1.0}", 10},
                                        .answer_type = {"application/json", 16},
                                        .retry_after_ms = -1};

static struct rig *rig_with(struct engine_reply reply, struct rig_options options) {
    struct rig *rig = rig_new(options);
    rig->handler_list[0].reply = reply;
    rig->concurrency = 1;
    rig_open(rig);
    rig_push(rig, "a");
    rig_push(rig, "b");
    rig_rest(rig);
    return rig;
}

static struct rig *rig_with_sink(struct rig_sink *sink) {
    rig_sink_init(sink);
    return rig_with((struct engine_reply){.sink = &sink->sink}, (struct rig_options){0});
}

static void answer(struct rig *rig, const char *id, struct outcome outcome) {
    rig_answer(rig, id, outcome);
    rig_rest(rig);
}

/* ---- kept ---- */

static void an_answer_is_kept_by_the_commit_that_forgets_its_message(void **state) {
    (void)state;
    struct rig *rig =
        rig_with((struct engine_reply){.store_ms = 5000}, (struct rig_options){.deferred = true});
    assert_true(rig_call(rig, "a")->call->wants_answer);
    rig_clear_log(rig);
    answer(rig, "a", answered);
    rig_assert_log(rig, "start(b) submit:keep(a) submit:forget(a)");
    rig_store(rig);
    rig_assert_log(rig, "settle(a)");
    struct arena arena;
    struct bytes value;
    arena_init_heap(&arena, 256);
    uint32_t queue = rig->store->vtable->queue_number(rig->store, BYTES("q"));
    assert_int_equal(letters_note(rig->store->letters, queue, SPACE_RESULT, BYTES("a"),
                                  rig->now.wall, &arena, &value, NULL),
                     STATUS_OK);
    assert_bytes(value, "{\"id\":\"a\",\"queue\":\"q\",\"content_type\":\"application/json\","
                        "\"body\":{\"n\": 1.0},\"at\":\"2023-11-14T22:13:20.000Z\"}");
    struct wall later = {rig->now.wall.ms + 5000};
    assert_int_equal(letters_note(rig->store->letters, queue, SPACE_RESULT, BYTES("a"), later,
                                  &arena, &value, NULL),
                     STATUS_NOT_FOUND);
    arena_free(&arena);
    rig_free(rig);
}

static void a_failure_keeps_nothing(void **state) {
    (void)state;
    struct rig *rig = rig_with((struct engine_reply){.store_ms = 5000}, (struct rig_options){0});
    rig_clear_log(rig);
    rig_fail(rig, "a", 503);
    rig_assert_log(rig, "start(b) submit:update(a) settle(a)");
    rig_free(rig);
}

static void without_a_reply_nobody_asks_for_the_answer(void **state) {
    (void)state;
    struct rig *rig = rig_with((struct engine_reply){0}, (struct rig_options){0});
    assert_false(rig_call(rig, "a")->call->wants_answer);
    rig_clear_log(rig);
    answer(rig, "a", answered);
    rig_assert_log(rig, "start(b) submit:forget(a) settle(a)");
    rig_free(rig);
}

static void an_answer_that_is_too_large_is_a_failure_of_its_own_kind(void **state) {
    (void)state;
    struct rig *rig = rig_with((struct engine_reply){.store_ms = 5000}, (struct rig_options){0});
    struct outcome large = answered;
    char *text = memory_new(OUTCOME_ANSWER_MAX + 1);
    large.answer = (struct bytes){text, OUTCOME_ANSWER_MAX + 1};
    answer(rig, "a", large);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->kind, KIND_ANSWER);
    assert_bytes(letter->reason, "answer_too_large");
    large.answer.len = OUTCOME_ANSWER_MAX;
    answer(rig, "b", large);
    rig_assert_gone(rig, "b");
    free(text);
    rig_free(rig);
}

/* ---- published ---- */

static void an_answer_is_published_before_its_message_is_forgotten(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with_sink(&sink);
    rig_clear_log(rig);
    answer(rig, "a", answered);
    rig_assert_log(rig, "");
    assert_bytes(sink.items[0]->id, "a");
    assert_bytes(sink.items[0]->body, "{\"n\": 1.0}");
    assert_bytes(sink.items[0]->content_type, "application/json");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_assert_log(rig, "start(b) submit:forget(a) settle(a)");
    assert_int_equal(sink.count, 1);
    rig_free(rig);
}

static void a_sink_in_trouble_holds_the_message_and_is_asked_again_later(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with_sink(&sink);
    answer(rig, "a", answered);
    rig_clear_log(rig);
    int64_t waits[] = {100, 200, 400, 800, 1600, 3200, 5000, 5000};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        rig_sink_take(rig, &sink, i, STATUS_UNREACHABLE);
        rig_pass(rig, waits[i] - 1);
        assert_int_equal(sink.count, i + 1);
        rig_pass(rig, 1);
        assert_int_equal(sink.count, i + 2);
    }
    rig_assert_log(rig, ""); /* neither lost, nor run again, nor overtaken */
    rig_sink_take(rig, &sink, sink.count - 1, STATUS_OK);
    rig_assert_log(rig, "start(b) submit:forget(a) submit:facts settle(a)");
    assert_int_equal(rig_view(rig).results[RESULT_OK], 1);
    rig_free(rig);
}

static void an_answer_that_is_too_large_for_its_sink_is_a_failure(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with_sink(&sink);
    answer(rig, "a", answered);
    rig_sink_take(rig, &sink, 0, STATUS_UNREACHABLE);
    rig_pass(rig, 100);
    rig_sink_take(rig, &sink, 1, STATUS_TOO_LARGE);
    const struct envelope *letter = rig_look(rig, "a");
    assert_int_equal(letter->state, STATE_PENDING_REVIEW);
    assert_int_equal(letter->kind, KIND_ANSWER);
    assert_bytes(letter->reason, "answer_too_large");
    assert_bytes(letter->error_message,
                 "the answer is too large for its sink: the sink was told to fail");
    answer(rig, "b", answered);
    rig_sink_take(rig, &sink, 2, STATUS_OK);
    rig_assert_gone(rig, "b");
    rig_free(rig);
}

static void a_failure_is_not_published(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with_sink(&sink);
    rig_fail(rig, "a", 503);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_RETRY);
    assert_int_equal(sink.count, 0);
    rig_free(rig);
}

static void a_stop_gives_a_sink_its_drain_and_then_hands_the_message_back(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with_sink(&sink);
    answer(rig, "a", answered);
    rig_sink_take(rig, &sink, 0, STATUS_UNREACHABLE);
    engine_hold(rig->engine, DRAIN_MS / 2);
    rig_rest(rig);
    rig_clear_log(rig);
    rig_pass(rig, DRAIN_MS / 2);
    rig_assert_log(rig, "submit:update(a) settle(a)");
    assert_int_equal(rig_state(rig, "a"), STATE_QUEUED);
    assert_int_equal(rig_look(rig, "a")->attempts, 0);
    assert_int_equal(sink.count, 1);
    rig_free(rig);
}

static void what_is_on_its_way_when_the_drain_ends_is_awaited(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with_sink(&sink);
    answer(rig, "a", answered);
    engine_hold(rig->engine, DRAIN_MS);
    rig_rest(rig);
    rig_clear_log(rig);
    rig_pass(rig, DRAIN_MS);
    rig_assert_log(rig, "");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_assert_log(rig, "submit:forget(a) settle(a)");
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_kept_by_the_commit_that_forgets_its_message),
        cmocka_unit_test(a_failure_keeps_nothing),
        cmocka_unit_test(without_a_reply_nobody_asks_for_the_answer),
        cmocka_unit_test(an_answer_that_is_too_large_is_a_failure_of_its_own_kind),
        cmocka_unit_test(an_answer_is_published_before_its_message_is_forgotten),
        cmocka_unit_test(a_sink_in_trouble_holds_the_message_and_is_asked_again_later),
        cmocka_unit_test(an_answer_that_is_too_large_for_its_sink_is_a_failure),
        cmocka_unit_test(a_failure_is_not_published),
        cmocka_unit_test(a_stop_gives_a_sink_its_drain_and_then_hands_the_message_back),
        cmocka_unit_test(what_is_on_its_way_when_the_drain_ends_is_awaited),
    };
    return cmocka_run_group_tests_name("reply", tests, NULL, NULL);
}
