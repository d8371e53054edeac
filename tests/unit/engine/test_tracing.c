/* Spans of what happens to messages, and the traceparent that their handlers see. */
#include "lease_rig.h"
#include "rig_spans.h"

#define TRACE  "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00-" TRACE "-00f067aa0ba902b7-01"

static const unsigned char producer[SPAN_ID_SIZE] = {0x00, 0xf0, 0x67, 0xaa,
                                                     0x0b, 0xa9, 0x02, 0xb7};
static const unsigned char nobody[SPAN_ID_SIZE];

enum { HEADERS = 3 };
static struct rule_header headers[HEADERS];

static struct rig *traced_rig(struct rig_spans *spans, struct rig_options options) {
    struct rig *rig = rig_new(options);
    rig_spans_init(spans, rig);
    return rig;
}

static void give_headers(struct rig *rig, const char *traceparent) {
    headers[0] = (struct rule_header){BYTES("a"), BYTES("b")};
    headers[1] = (struct rule_header){BYTES("Traceparent"), bytes_of(traceparent)};
    headers[2] = (struct rule_header){BYTES("tracestate"), BYTES("vendor=1")};
    rig->headers = headers;
    rig->header_count = HEADERS;
}

static struct rig *opened(struct rig_spans *spans, const char *traceparent) {
    struct rig *rig = traced_rig(spans, (struct rig_options){0});
    if (traceparent)
        give_headers(rig, traceparent);
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    return rig;
}

static void closed(struct rig *rig, struct rig_spans *spans) {
    rig_free(rig);
    rig_spans_free(spans);
}

static struct bytes seen(const struct rule_header *list, size_t count, const char *name) {
    struct bytes found = BYTES_NONE;
    for (size_t i = 0; i < count; i++) {
        if (!bytes_eq_nocase(list[i].name, bytes_of(name)))
            continue;
        assert_null(found.ptr);
        found = list[i].value;
    }
    return found;
}

static struct traceparent handed(const struct call *call) {
    struct traceparent parent;
    assert_true(traceparent_parse(seen(call->headers, call->header_count, "traceparent"), &parent));
    return parent;
}

/* A letter is sent round again, as triage does it. */
static void replay(struct rig *rig, const char *id) {
    struct envelope envelope = *rig_look(rig, id);
    uint64_t seq = rig->looked_at->seq;
    envelope.state = STATE_REPLAYING;
    envelope.attempts = 0;
    envelope.replays++;
    envelope.replay = BYTES("r-1");
    envelope.replayed_at = envelope.next_attempt_at = rig->now.wall;
    rig_commit(rig,
               &(struct store_op){.kind = STORE_UPDATE,
                                  .queue = rig->store->vtable->queue_number(rig->store, BYTES("q")),
                                  .seq = seq,
                                  .envelope = &envelope});
    rig_rest(rig);
}

static void a_message_goes_on_with_the_trace_it_came_with(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = opened(&spans, PARENT);
    const struct call *call = rig_call(rig, "a")->call;
    struct traceparent given = handed(call);
    assert_bytes(seen(call->headers, call->header_count, "tracestate"), "vendor=1");
    assert_bytes(seen(call->headers, call->header_count, "a"), "b");
    rig->now.wall.ms += 250, rig->now.mono.ms += 250;
    rig_succeed(rig, "a");
    rig_spans_assert_names(&spans, "process q, settle q");
    const struct span *process = &spans.list[0], *settle = &spans.list[1];
    char hex[2 * TRACE_ID_SIZE + 1];
    assert_string_equal(traceparent_hex(process->own.trace_id, TRACE_ID_SIZE, hex), TRACE);
    rig_spans_assert_parent(process, producer);
    assert_memory_equal(process->own.span_id, given.span_id, SPAN_ID_SIZE);
    assert_memory_equal(process->own.trace_id, given.trace_id, TRACE_ID_SIZE);
    assert_int_equal(given.flags, TRACEPARENT_SAMPLED);
    assert_bytes(process->trace_state, "vendor=1");
    assert_int_equal(process->kind, SPAN_CONSUMER);
    assert_int_equal(process->to.ms - process->from.ms, 250);
    assert_false(process->failed);
    assert_true(rig_spans_same_trace(process, settle));
    rig_spans_assert_parent(settle, process->own.span_id);
    assert_memory_not_equal(settle->own.span_id, process->own.span_id, SPAN_ID_SIZE);
    closed(rig, &spans);
}

static void attributes_say_what_it_was(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = opened(&spans, PARENT);
    rig_succeed(rig, "a");
    const struct span *process = &spans.list[0], *settle = &spans.list[1];
    rig_spans_assert_text(process, "messaging.system", "impound");
    rig_spans_assert_text(process, "messaging.destination.name", "q");
    rig_spans_assert_text(process, "messaging.operation.name", "process");
    rig_spans_assert_text(process, "messaging.operation.type", "process");
    rig_spans_assert_text(process, "messaging.message.id", "a");
    rig_spans_assert_number(process, "messaging.message.body.size", 2);
    rig_spans_assert_text(process, "impound.queue", "q");
    rig_spans_assert_number(process, "impound.attempt", 1);
    rig_spans_assert_text(process, "impound.verdict", "ok");
    rig_spans_assert_text(process, "error.type", NULL);
    rig_spans_assert_text(process, "dlq.reason", NULL);
    rig_spans_assert_text(settle, "messaging.operation.name", "settle");
    rig_spans_assert_text(settle, "messaging.operation.type", "settle");
    rig_spans_assert_text(settle, "impound.verdict", "ok");
    closed(rig, &spans);
}

static void a_brokers_coordinates_have_the_names_that_others_give_them(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = traced_rig(&spans, (struct rig_options){0});
    rig->source = "{\"kind\":\"kafka\",\"topic\":\"orders\",\"partition\":17,\"offset\":884201}";
    rig->group = "pricing";
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_succeed(rig, "a");
    const struct span *process = &spans.list[0];
    rig_spans_assert_text(process, "messaging.system", "kafka");
    rig_spans_assert_text(process, "messaging.destination.name", "orders");
    rig_spans_assert_text(process, "messaging.destination.partition.id", "17");
    rig_spans_assert_number(process, "messaging.kafka.offset", 884201);
    rig_spans_assert_text(process, "messaging.consumer.group.name", "pricing");
    rig_spans_assert_text(process, "impound.queue", "q");
    rig->source = "{\"kind\":\"redis\",\"stream\":\"s\",\"group\":\"g\",\"entry\":\"1-0\"}";
    rig->group = NULL;
    rig_restart(rig);
    rig_push(rig, "b");
    rig_rest(rig);
    rig_succeed(rig, "b");
    rig_spans_assert_text(&spans.list[2], "messaging.system", "redis");
    rig_spans_assert_text(&spans.list[2], "messaging.destination.name", "s");
    rig_spans_assert_text(&spans.list[2], "messaging.consumer.group.name", "g");
    closed(rig, &spans);
}

static void each_attempt_is_a_span_and_the_last_says_why_it_died(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = traced_rig(&spans, (struct rig_options){0});
    rig->policy.retry.attempts = 2;
    give_headers(rig, PARENT);
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    rig_fail(rig, "a", 503);
    rig_pass(rig, 1000);
    rig_answer(
        rig, "a",
        (struct outcome){.ending = ENDING_FAILED, .kind = KIND_TIMEOUT, .retry_after_ms = -1});
    rig_rest(rig);
    rig_spans_assert_names(&spans, "process q, settle q, process q, settle q");
    const struct span *first = &spans.list[0], *retry = &spans.list[1], *last = &spans.list[2],
                      *dead = &spans.list[3];
    rig_spans_assert_parent(first, producer);
    rig_spans_assert_parent(last, producer);
    rig_spans_assert_number(last, "impound.attempt", 2);
    assert_true(first->failed);
    assert_bytes(first->trouble, "it said no");
    rig_spans_assert_text(first, "error.type", "Upstream");
    rig_spans_assert_number(first, "http.response.status_code", 503);
    rig_spans_assert_text(first, "impound.verdict", "retry");
    rig_spans_assert_text(first, "dlq.reason", NULL);
    rig_spans_assert_text(retry, "impound.verdict", "retry");
    assert_false(retry->failed);
    rig_spans_assert_text(last, "error.type", "timeout");
    rig_spans_assert_text(last, "dlq.reason", "max_attempts:timeout");
    rig_spans_assert_text(dead, "impound.verdict", "dlq");
    rig_spans_assert_text(dead, "impound.cause", "exhausted");
    rig_spans_assert_text(dead, "impound.category", "timeout");
    rig_spans_assert_text(dead, "impound.dlq", "q.dlq");
    rig_spans_assert_text(dead, "dlq.reason", "max_attempts:timeout");
    closed(rig, &spans);
}

static void without_a_traceparent_all_attempts_share_a_trace_of_their_own(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = opened(&spans, NULL);
    rig_fail(rig, "a", 503);
    rig_restart(rig); /* another life goes on with it */
    rig_pass(rig, 1000);
    rig_succeed(rig, "a");
    rig_push(rig, "b");
    rig_rest(rig);
    rig_succeed(rig, "b");
    rig_spans_assert_names(&spans, "process q, settle q, process q, settle q, process q, settle q");
    for (size_t i = 0; i < 4; i++)
        assert_true(rig_spans_same_trace(&spans.list[0], &spans.list[i]));
    rig_spans_assert_parent(&spans.list[0], nobody);
    rig_spans_assert_parent(&spans.list[2], nobody);
    assert_false(rig_spans_same_trace(&spans.list[0], &spans.list[4]));
    closed(rig, &spans);
}

static void a_replay_begins_a_trace_that_links_to_the_old_one(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = opened(&spans, PARENT);
    rig_fail(rig, "a", 400);
    rig->now.wall.ms += 5000, rig->now.mono.ms += 5000;
    replay(rig, "a");
    const struct call *call = rig_call(rig, "a")->call;
    struct traceparent given = handed(call);
    assert_null(seen(call->headers, call->header_count, "tracestate").ptr);
    rig->now.wall.ms += 300, rig->now.mono.ms += 300;
    rig_succeed(rig, "a");
    rig_spans_assert_names(&spans, "process q, settle q, process q, settle q, replay q");
    const struct span *old = &spans.list[1], *process = &spans.list[2], *again = &spans.list[4];
    assert_false(rig_spans_same_trace(old, again));
    assert_true(rig_spans_same_trace(process, again));
    assert_memory_equal(given.trace_id, again->own.trace_id, TRACE_ID_SIZE);
    rig_spans_assert_parent(process, again->own.span_id);
    rig_spans_assert_parent(again, nobody);
    assert_int_equal(again->to.ms - again->from.ms, 300);
    assert_int_equal(again->link_count, 2);
    assert_memory_equal(again->links[0].to.trace_id, old->own.trace_id, TRACE_ID_SIZE);
    assert_memory_equal(again->links[0].to.span_id, producer, SPAN_ID_SIZE);
    assert_bytes(again->links[0].trace_state, "vendor=1");
    assert_memory_equal(again->links[1].to.trace_id, old->own.trace_id, TRACE_ID_SIZE);
    assert_memory_equal(again->links[1].to.span_id, old->own.span_id, SPAN_ID_SIZE);
    rig_spans_assert_text(again, "impound.replay.id", "r-1");
    assert_bytes(rig_spans_attribute(again, "impound.letter")->text,
                 rig_look(rig, "a")->letter_id.ptr);
    rig_spans_assert_number(again, "impound.replay", 1);
    rig_spans_assert_text(again, "impound.verdict", "ok");
    assert_int_equal(process->link_count, 0);
    closed(rig, &spans);
}

static void a_second_replay_links_to_the_first(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = opened(&spans, NULL);
    rig_fail(rig, "a", 400);
    replay(rig, "a");
    rig_fail(rig, "a", 400);
    replay(rig, "a");
    rig_fail(rig, "a", 400);
    rig_spans_assert_names(&spans, "process q, settle q, process q, settle q, replay q, "
                                   "process q, settle q, replay q");
    const struct span *end = &spans.list[1], *first = &spans.list[4], *second = &spans.list[7];
    assert_true(first->failed);
    assert_int_equal(first->link_count, 1);
    assert_memory_equal(first->links[0].to.trace_id, end->own.trace_id, TRACE_ID_SIZE);
    assert_memory_equal(first->links[0].to.span_id, end->own.span_id, SPAN_ID_SIZE);
    assert_memory_equal(second->links[0].to.trace_id, first->own.trace_id, TRACE_ID_SIZE);
    assert_memory_equal(second->links[0].to.span_id, spans.list[3].own.span_id, SPAN_ID_SIZE);
    assert_false(rig_spans_same_trace(first, second));
    closed(rig, &spans);
}

static void a_trace_that_nobody_records_is_passed_on_and_not_told(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = opened(&spans, "00-" TRACE "-00f067aa0ba902b7-00");
    struct traceparent given = handed(rig_call(rig, "a")->call);
    assert_int_equal(given.flags, 0);
    rig_fail(rig, "a", 400);
    replay(rig, "a");
    rig_succeed(rig, "a");
    assert_int_equal(spans.count, 0);
    closed(rig, &spans);
}

/* Whose trace is another's was chosen there. */
static void of_the_traces_that_begin_here_a_share_is_told(void **state) {
    (void)state;
    enum { MESSAGES = 40 };
    struct rig_spans spans;
    struct rig *rig = traced_rig(&spans, (struct rig_options){0});
    spans.spans.sample_permille = 0;
    rig->concurrency = MESSAGES;
    rig_open(rig);
    rig_push_many(rig, MESSAGES);
    rig_rest(rig);
    rig_succeed_all(rig);
    assert_int_equal(spans.count, 0);
    spans.spans.sample_permille = 250;
    rig_push_many(rig, MESSAGES);
    rig_rest(rig);
    rig_succeed_all(rig);
    assert_in_range(spans.count, 2, 2 * MESSAGES / 2);
    closed(rig, &spans);
}

static void what_did_not_count_is_an_attempt_that_settles_nothing(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = opened(&spans, PARENT);
    rig_fail(rig, "a", 401);
    rig_spans_assert_names(&spans, "process q");
    rig_spans_assert_text(&spans.list[0], "impound.verdict", "halt");
    closed(rig, &spans);
}

static void a_fallback_is_the_same_attempt(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = traced_rig(&spans, (struct rig_options){.handlers = 2});
    static struct rule fall_back = {.verdict = VERDICT_FALLBACK,
                                    .category = {"external", 8},
                                    .reason = {"down", 4},
                                    .name = {"rule", 4}};
    rig->policy.rules = &fall_back;
    rig->policy.rule_count = 1;
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    struct traceparent first = handed(rig_call(rig, "a")->call);
    rig_fail(rig, "a", 500);
    struct traceparent second = handed(rig_call(rig, "a")->call);
    assert_memory_equal(&first, &second, sizeof first);
    rig_succeed(rig, "a");
    rig_spans_assert_names(&spans, "process q, settle q");
    rig_spans_assert_number(&spans.list[0], "impound.fallback", 1);
    closed(rig, &spans);
}

static void a_report_is_settled_without_an_attempt_of_ours(void **state) {
    (void)state;
    struct rig_spans spans;
    struct rig *rig = traced_rig(&spans, (struct rig_options){0});
    rig_open(rig);
    rig_report(rig, "a", "{}", 1, rig_outcome(KIND_REPORTED, 400));
    rig_rest(rig);
    rig_spans_assert_names(&spans, "settle q");
    rig_spans_assert_text(&spans.list[0], "dlq.reason", "bad_request");
    rig_spans_assert_parent(&spans.list[0], nobody);
    closed(rig, &spans);
}

static void a_worker_is_given_its_span_in_the_headers(void **state) {
    (void)state;
    struct rig_spans spans;
    struct fetched fetched;
    struct rig *rig = traced_rig(&spans, (struct rig_options){.lease = true});
    give_headers(rig, PARENT);
    rig_open(rig);
    rig_push(rig, "a");
    lease_rig_fetch(rig, &fetched, 1);
    assert_int_equal(fetched.count, 1);
    struct traceparent given = fetched.traces[0];
    assert_memory_not_equal(given.span_id, producer, SPAN_ID_SIZE);
    assert_int_equal(lease_rig_ack(rig, fetched.leases[0]), STATUS_OK);
    rig_spans_assert_names(&spans, "process q, settle q");
    assert_memory_equal(spans.list[0].own.span_id, given.span_id, SPAN_ID_SIZE);
    rig_spans_assert_parent(&spans.list[0], producer);
    rig_spans_assert_number(&spans.list[0], "impound.attempt", 1);
    closed(rig, &spans);
}

static void without_anybody_who_traces_headers_are_as_they_came(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){0});
    give_headers(rig, PARENT);
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    const struct call *call = rig_call(rig, "a")->call;
    assert_int_equal(call->header_count, HEADERS);
    assert_bytes(seen(call->headers, call->header_count, "traceparent"), PARENT);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_goes_on_with_the_trace_it_came_with),
        cmocka_unit_test(attributes_say_what_it_was),
        cmocka_unit_test(a_brokers_coordinates_have_the_names_that_others_give_them),
        cmocka_unit_test(each_attempt_is_a_span_and_the_last_says_why_it_died),
        cmocka_unit_test(without_a_traceparent_all_attempts_share_a_trace_of_their_own),
        cmocka_unit_test(a_replay_begins_a_trace_that_links_to_the_old_one),
        cmocka_unit_test(a_second_replay_links_to_the_first),
        cmocka_unit_test(a_trace_that_nobody_records_is_passed_on_and_not_told),
        cmocka_unit_test(of_the_traces_that_begin_here_a_share_is_told),
        cmocka_unit_test(what_did_not_count_is_an_attempt_that_settles_nothing),
        cmocka_unit_test(a_fallback_is_the_same_attempt),
        cmocka_unit_test(a_report_is_settled_without_an_attempt_of_ours),
        cmocka_unit_test(a_worker_is_given_its_span_in_the_headers),
        cmocka_unit_test(without_anybody_who_traces_headers_are_as_they_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
