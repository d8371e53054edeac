/* Spans on their way to a receiver that does as the test says, on a clock that is stepped by hand.
 */
#include "telemetry/exporter.h"

#include <otlp.pb-c.h>

#include "base/containers/list.h"
#include "test.h"

struct bench {
    struct exporter *exporter;
    struct handler handler;
    struct clock clock;
    struct instant now;
    struct mono next;  /* what the last turn returned */
    struct call *call; /* under way; NULL: none */
    size_t started, cancelled;
};

static void start(struct handler *handler, struct call *call) {
    struct bench *bench = CONTAINER_OF(handler, struct bench, handler);
    assert_null(bench->call);
    bench->call = call;
    bench->started++;
}

static void cancel(struct handler *handler, struct call *call) {
    struct bench *bench = CONTAINER_OF(handler, struct bench, handler);
    assert_ptr_equal(bench->call, call);
    bench->cancelled++;
}

static struct instant read_clock(struct clock *clock) {
    return CONTAINER_OF(clock, struct bench, clock)->now;
}

static void bench_open(struct bench *bench) {
    static const struct handler_vtable vtable = {.start = start, .cancel = cancel};
    *bench = (struct bench){
        .handler = {&vtable}, .clock = {.now = read_clock}, .now = {{1700000000000}, {1000}}};
    struct exporter_options options = {
        .handler = &bench->handler,
        .clock = &bench->clock,
        .origin = {BYTES("impound"), BYTES("1.2.3"), BYTES("host-7")},
        .sample_permille = 1000,
        .seed = 1};
    bench->exporter = exporter_new(&options);
}

static void turn(struct bench *bench) {
    bench->next = exporter_turn(bench->exporter, bench->now);
}

static void pass(struct bench *bench, int64_t ms) {
    bench->now.wall.ms += ms;
    bench->now.mono.ms += ms;
    turn(bench);
}

static void answer(struct bench *bench, struct outcome outcome) {
    struct call *call = bench->call;
    assert_non_null(call);
    bench->call = NULL;
    call->done(call, &outcome);
    turn(bench);
}

static void take(struct bench *bench) {
    answer(bench, (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1});
}

static void refuse(struct bench *bench, int status, int64_t retry_after_ms) {
    answer(bench, (struct outcome){.ending = ENDING_FAILED,
                                   .kind = KIND_STATUS,
                                   .status = status,
                                   .error_message = BYTES("no"),
                                   .retry_after_ms = retry_after_ms});
}

static void record(struct bench *bench, size_t count) {
    struct spans *spans = exporter_spans(bench->exporter);
    for (size_t i = 0; i < count; i++) {
        struct span span = {.own = {{1}, {2}, 1}, .name = BYTES("process q")};
        spans->vtable->record(spans, &span);
    }
}

static void assert_counts(struct bench *bench, uint64_t sent, uint64_t dropped) {
    struct spans *spans = exporter_spans(bench->exporter);
    struct spans_counts counts;
    spans->vtable->counts(spans, &counts);
    assert_int_equal(counts.sent, sent);
    assert_int_equal(counts.dropped, dropped);
}

static size_t spans_in(const struct call *call) {
    Otlp__TraceRequest *request =
        otlp__trace_request__unpack(NULL, call->body.len, (const uint8_t *)call->body.ptr);
    assert_non_null(request);
    size_t count = request->resource_spans[0]->scope_spans[0]->n_spans;
    otlp__trace_request__free_unpacked(request, NULL);
    return count;
}

/* Stopped, it gives up what is left. */
static void bench_close(struct bench *bench) {
    exporter_stop(bench->exporter);
    turn(bench);
    while (!exporter_is_over(bench->exporter))
        refuse(bench, 503, -1);
    exporter_free(bench->exporter);
}

static void spans_wait_for_one_another_and_go_together(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench);
    turn(&bench);
    assert_int_equal(bench.next.ms, MONO_NEVER.ms);
    record(&bench, 1);
    turn(&bench);
    assert_null(bench.call);
    assert_int_equal(bench.next.ms, bench.now.mono.ms + EXPORTER_DELAY_MS);
    pass(&bench, EXPORTER_DELAY_MS - 1);
    record(&bench, 2);
    turn(&bench);
    assert_null(bench.call);
    pass(&bench, 1);
    assert_int_equal(spans_in(bench.call), 3);
    assert_bytes(bench.call->content_type, "application/x-protobuf");
    take(&bench);
    assert_counts(&bench, 3, 0);
    assert_int_equal(bench.next.ms, MONO_NEVER.ms);
    bench_close(&bench);
}

static void a_full_batch_goes_at_once_one_at_a_time(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench);
    record(&bench, 2 * EXPORTER_BATCH_MAX + 1);
    turn(&bench);
    assert_int_equal(spans_in(bench.call), EXPORTER_BATCH_MAX);
    pass(&bench, 60 * 1000);
    assert_int_equal(bench.started, 1);
    take(&bench);
    assert_int_equal(spans_in(bench.call), EXPORTER_BATCH_MAX);
    take(&bench);
    assert_null(bench.call);
    pass(&bench, EXPORTER_DELAY_MS);
    assert_int_equal(spans_in(bench.call), 1);
    take(&bench);
    assert_counts(&bench, 2 * EXPORTER_BATCH_MAX + 1, 0);
    bench_close(&bench);
}

static void a_receiver_that_is_away_is_asked_again_with_the_same_spans(void **state) {
    static const struct outcome troubles[] = {
        {.ending = ENDING_FAILED, .kind = KIND_REFUSED, .retry_after_ms = -1},
        {.ending = ENDING_FAILED, .kind = KIND_TIMEOUT, .retry_after_ms = -1},
        {.ending = ENDING_FAILED, .kind = KIND_STATUS, .status = 429, .retry_after_ms = -1},
        {.ending = ENDING_FAILED, .kind = KIND_STATUS, .status = 502, .retry_after_ms = -1},
        {.ending = ENDING_FAILED, .kind = KIND_STATUS, .status = 503, .retry_after_ms = -1},
        {.ending = ENDING_FAILED, .kind = KIND_STATUS, .status = 504, .retry_after_ms = -1},
    };
    (void)state;
    struct bench bench;
    bench_open(&bench);
    record(&bench, 5);
    turn(&bench);
    pass(&bench, EXPORTER_DELAY_MS);
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        answer(&bench, troubles[i]);
        assert_null(bench.call);
        assert_true(bench.next.ms > bench.now.mono.ms);
        pass(&bench, bench.next.ms - bench.now.mono.ms);
        assert_int_equal(spans_in(bench.call), 5);
    }
    take(&bench);
    assert_counts(&bench, 5, 0);
    bench_close(&bench);
}

static void a_wish_to_wait_is_respected(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench);
    record(&bench, 1);
    turn(&bench);
    pass(&bench, EXPORTER_DELAY_MS);
    refuse(&bench, 429, 90 * 1000);
    assert_int_equal(bench.next.ms, bench.now.mono.ms + 90 * 1000);
    pass(&bench, 90 * 1000 - 1);
    assert_null(bench.call);
    pass(&bench, 1);
    take(&bench);
    bench_close(&bench);
}

static void what_is_refused_for_good_is_dropped_and_the_next_goes(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench);
    record(&bench, EXPORTER_BATCH_MAX + 3);
    turn(&bench);
    refuse(&bench, 400, -1);
    assert_counts(&bench, 0, EXPORTER_BATCH_MAX);
    pass(&bench, EXPORTER_DELAY_MS);
    assert_int_equal(spans_in(bench.call), 3);
    take(&bench);
    assert_counts(&bench, 3, EXPORTER_BATCH_MAX);
    bench_close(&bench);
}

static void what_the_receiver_takes_in_part_is_counted_so(void **state) {
    (void)state;
    /* partial_success {rejected_spans: 2, error_message: "no"} */
    static const char partial[] = "\x0a\x06\x08\x02\x12\x02no";
    struct bench bench;
    bench_open(&bench);
    record(&bench, 5);
    turn(&bench);
    pass(&bench, EXPORTER_DELAY_MS);
    assert_true(bench.call->wants_answer);
    answer(&bench,
           (struct outcome){.ending = ENDING_OK, .answer = BYTES(partial), .retry_after_ms = -1});
    assert_counts(&bench, 3, 2);
    bench_close(&bench);
}

static void memory_has_a_limit(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench);
    record(&bench, EXPORTER_BATCH_MAX);
    turn(&bench); /* one request is under way … */
    record(&bench, EXPORTER_HELD_MAX);
    assert_counts(&bench, 0, EXPORTER_BATCH_MAX); /* … and counts */
    take(&bench);
    record(&bench, EXPORTER_BATCH_MAX + 1);
    assert_counts(&bench, EXPORTER_BATCH_MAX, EXPORTER_BATCH_MAX + 1);
    bench_close(&bench);
}

static void stopping_sends_what_is_left(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench);
    record(&bench, EXPORTER_BATCH_MAX + 1);
    exporter_stop(bench.exporter);
    turn(&bench);
    take(&bench);
    assert_int_equal(spans_in(bench.call), 1);
    assert_false(exporter_is_over(bench.exporter));
    take(&bench);
    assert_true(exporter_is_over(bench.exporter));
    assert_counts(&bench, EXPORTER_BATCH_MAX + 1, 0);
    exporter_free(bench.exporter);
}

/* It is asked once more, however long it would have been waited for. */
static void stopping_waits_for_no_receiver_that_is_away(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench);
    record(&bench, 2);
    turn(&bench);
    pass(&bench, EXPORTER_DELAY_MS);
    refuse(&bench, 503, 60 * 1000);
    exporter_stop(bench.exporter);
    turn(&bench);
    assert_non_null(bench.call);
    refuse(&bench, 503, -1);
    assert_true(exporter_is_over(bench.exporter));
    assert_counts(&bench, 0, 2);
    exporter_free(bench.exporter);
}

static void stopping_waits_for_a_slow_receiver_for_a_bounded_time(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench);
    record(&bench, 2);
    exporter_stop(bench.exporter);
    turn(&bench);
    assert_int_equal(bench.next.ms, bench.now.mono.ms + EXPORTER_STOP_MS);
    pass(&bench, EXPORTER_STOP_MS - 1);
    assert_int_equal(bench.cancelled, 0);
    pass(&bench, 1);
    assert_int_equal(bench.cancelled, 1);
    answer(&bench, (struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1});
    assert_true(exporter_is_over(bench.exporter));
    assert_counts(&bench, 0, 2);
    exporter_free(bench.exporter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_wait_for_one_another_and_go_together),
        cmocka_unit_test(a_full_batch_goes_at_once_one_at_a_time),
        cmocka_unit_test(a_receiver_that_is_away_is_asked_again_with_the_same_spans),
        cmocka_unit_test(a_wish_to_wait_is_respected),
        cmocka_unit_test(what_is_refused_for_good_is_dropped_and_the_next_goes),
        cmocka_unit_test(what_the_receiver_takes_in_part_is_counted_so),
        cmocka_unit_test(memory_has_a_limit),
        cmocka_unit_test(stopping_sends_what_is_left),
        cmocka_unit_test(stopping_waits_for_no_receiver_that_is_away),
        cmocka_unit_test(stopping_waits_for_a_slow_receiver_for_a_bounded_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
