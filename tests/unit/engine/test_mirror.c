/* Letters are published to their mirror before they are recorded. */
#include "rig_sink.h"

#include "fake_broker.h"

enum { DRAIN_MS = 100 };

static struct rig *rig_with(struct rig_sink *sink, struct rig_options options) {
    struct rig *rig = rig_new(options);
    rig_sink_init(sink);
    rig->mirrors[0] = (struct engine_mirror){BYTES("q.dlq"), &sink->sink};
    rig->mirror_count = 1;
    rig_open(rig);
    return rig;
}

static struct bytes header(const struct sink_item *item, const char *name) {
    for (size_t i = 0; i < item->header_count; i++)
        if (bytes_is(item->headers[i].name, name))
            return item->headers[i].value;
    return BYTES_NONE;
}

static void a_letter_is_published_before_it_is_recorded(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    rig_push_message(rig, "a", "k1", "{\"pin\":1}");
    rig_rest(rig);
    rig_clear_log(rig);
    rig_fail(rig, "a", 400);
    rig_assert_log(rig, "");
    assert_int_equal(sink.count, 1);
    const struct sink_item *item = sink.items[0];
    assert_bytes(item->id, "a");
    assert_bytes(item->key, "k1");
    assert_bytes(item->body, "{\"pin\":1}");
    assert_bytes(item->content_type, "application/json");
    assert_bytes(header(item, "dlq-original-topic"), "q");
    assert_null(header(item, "dlq-original-partition").ptr);
    assert_bytes(header(item, "dlq-error-class"), "Upstream");
    assert_bytes(header(item, "dlq-error-msg"), "it said no");
    assert_bytes(header(item, "dlq-attempts"), "1");
    assert_bytes(header(item, "dlq-failed-at"), "1700000000");
    assert_bytes(header(item, "dlq-cause"), "terminal");
    assert_bytes(header(item, "dlq-category"), "validation");
    assert_bytes(header(item, "dlq-reason"), "bad_request");
    assert_int_equal(header(item, "dlq-letter-id").len, 36);
    assert_true(bytes_starts(item->stamp, header(item, "dlq-letter-id")));
    assert_bytes(bytes_cut(item->stamp, 36, item->stamp.len), ":0:mirror");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_assert_log(rig, "submit:update(a) settle(a)");
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

static void a_tombstone_is_one_there_too(void **state) {
    (void)state;
    static const struct {
        const char *source, *body;
        bool tombstone;
    } cases[] = {
        {"{\"kind\":\"kafka\",\"tombstone\":true}", "", true},
        {"{\"kind\":\"kafka\",\"tombstone\":true}", "edited", false},
        {"{\"kind\":\"kafka\"}", "", false},
        {"{\"kind\":\"kafka\",\"origin\":{\"kind\":\"kafka\",\"tombstone\":true}}", "", true},
        {"{\"kind\":\"kafka\",\"origin\":{\"kind\":\"kafka\"}}", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig_sink sink;
        struct rig *rig = rig_with(&sink, (struct rig_options){0});
        rig->source = cases[i].source;
        rig_push_message(rig, "a", "k1", cases[i].body);
        rig_rest(rig);
        rig_fail(rig, "a", 400);
        assert_int_equal(sink.count, 1);
        assert_int_equal(sink.items[0]->body.len, strlen(cases[i].body));
        assert_int_equal(!sink.items[0]->body.ptr, cases[i].tombstone);
        rig_sink_take(rig, &sink, 0, STATUS_OK);
        rig_free(rig);
    }
}

static void of_a_pointer_it_tells_where_the_message_was(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    rig->source = "{\"kind\":\"kafka\",\"topic\":\"dead\",\"partition\":0,\"offset\":9,\"origin\":"
                  "{\"kind\":\"kafka\",\"topic\":\"orders\",\"partition\":3,\"offset\":17}}";
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    assert_int_equal(sink.count, 1);
    assert_bytes(header(sink.items[0], "dlq-original-topic"), "orders");
    assert_bytes(header(sink.items[0], "dlq-original-partition"), "3");
    assert_bytes(header(sink.items[0], "dlq-original-offset"), "17");
    rig_sink_take(rig, &sink, 0, STATUS_OK);
    rig_free(rig);
}

static void a_source_keeps_its_message_until_then(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){.server = true});
    fake_server_push(rig->server, "a", NULL, BYTES("x"));
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    assert_int_equal(fake_server_count(rig->server), 1);
    rig_sink_take(rig, &sink, 0, STATUS_UNREACHABLE);
    assert_int_equal(fake_server_count(rig->server), 1);
    rig_pass(rig, 100);
    assert_int_equal(sink.count, 2);
    rig_sink_take(rig, &sink, 1, STATUS_OK);
    assert_int_equal(fake_server_count(rig->server), 0);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

/* It is so whenever it is tried, and would hold its source up for ever. */
static void one_that_is_too_large_is_recorded_without(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){.server = true});
    fake_server_push(rig->server, "a", NULL, BYTES("x"));
    fake_server_push(rig->server, "b", NULL, BYTES("y"));
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    rig_sink_take(rig, &sink, 0, STATUS_TOO_LARGE);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    assert_int_equal(fake_server_count(rig->server), 1);
    assert_string_equal(rig_view(rig).sink_trouble,
                        "the last letter is not in its mirror: the sink was told to fail");
    rig_pass(rig, 100000);
    assert_int_equal(sink.count, 1);
    rig_fail(rig, "b", 400);
    rig_sink_take(rig, &sink, 1, STATUS_OK);
    assert_string_equal(rig_view(rig).sink_trouble, "");
    rig_free(rig);
}

/* That may be its URL's fault, which can be mended. */
static void any_other_refusal_holds_it_up(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    rig_sink_take(rig, &sink, 0, STATUS_INVALID);
    assert_int_equal(rig_state(rig, "a"), STATE_RUNNING);
    rig_pass(rig, 100);
    rig_sink_take(rig, &sink, 1, STATUS_OK);
    assert_int_equal(rig_state(rig, "a"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

static void what_is_retried_or_goes_elsewhere_is_not_published(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_new((struct rig_options){0});
    rig_sink_init(&sink);
    rig->mirrors[0] = (struct engine_mirror){BYTES("q.bad"), &sink.sink};
    rig->mirror_count = 1;
    rig_open(rig);
    rig_push(rig, "a");
    rig_push(rig, "b");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    rig_fail(rig, "b", 400);
    assert_int_equal(sink.count, 0);
    assert_int_equal(rig_state(rig, "b"), STATE_PENDING_REVIEW);
    rig_free(rig);
}

/* It must not be recorded without having been published. */
static void after_the_drain_it_is_left_for_the_next_life(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 400);
    rig_sink_take(rig, &sink, 0, STATUS_UNREACHABLE);
    rig_clear_log(rig);
    engine_hold(rig->engine, DRAIN_MS);
    rig_rest(rig);
    rig_pass(rig, DRAIN_MS);
    rig_pass(rig, 100000);
    struct bytes log = buf_view(&rig->log);
    assert_true(bytes_find(log, BYTES("update(a)")) == log.len);
    rig_restart(rig);
    rig_rest(rig);
    assert_int_equal(rig_state(rig, "a"), STATE_RUNNING);
    rig_free(rig);
}

static void a_report_is_refused_after_the_drain(void **state) {
    (void)state;
    struct rig_sink sink;
    struct rig *rig = rig_with(&sink, (struct rig_options){0});
    struct rig_request *asked = rig_report(rig, "r", "{}", 1, rig_outcome(KIND_STATUS, 400));
    rig_rest(rig);
    assert_int_equal(asked->answers, 0);
    rig_sink_take(rig, &sink, 0, STATUS_UNREACHABLE);
    engine_hold(rig->engine, DRAIN_MS);
    rig_rest(rig);
    rig_pass(rig, DRAIN_MS);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->status, STATUS_BUSY);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_is_published_before_it_is_recorded),
        cmocka_unit_test(a_tombstone_is_one_there_too),
        cmocka_unit_test(of_a_pointer_it_tells_where_the_message_was),
        cmocka_unit_test(a_source_keeps_its_message_until_then),
        cmocka_unit_test(one_that_is_too_large_is_recorded_without),
        cmocka_unit_test(any_other_refusal_holds_it_up),
        cmocka_unit_test(what_is_retried_or_goes_elsewhere_is_not_published),
        cmocka_unit_test(after_the_drain_it_is_left_for_the_next_life),
        cmocka_unit_test(a_report_is_refused_after_the_drain),
    };
    return cmocka_run_group_tests_name("mirror", tests, NULL, NULL);
}
