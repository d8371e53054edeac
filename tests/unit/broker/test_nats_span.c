#include "test.h"

#include "broker/nats/stream/nats_span.h"

static struct json parse(const char *text) {
    struct json json;
    assert_int_equal(json_parse(bytes_of(text), &json, NULL), STATUS_OK);
    return json;
}

static void a_stream_is_read_whole_unless_its_consumer_is_further(void **state) {
    (void)state;
    static const struct {
        const char *consumer;
        uint64_t next;
        const char *filter;
    } cases[] = {
        {"{}", 3, ">"},
        {"{\"ack_floor\":{\"stream_seq\":0}}", 3, ">"},
        {"{\"ack_floor\":{\"stream_seq\":2}}", 3, ">"},
        {"{\"ack_floor\":{\"stream_seq\":3}}", 4, ">"},
        {"{\"ack_floor\":{\"stream_seq\":9}}", 10, ">"},
        {"{\"ack_floor\":{\"stream_seq\":18446744073709551615}}", 3, ">"},
        {"{\"config\":{\"filter_subject\":\"a.*\"}}", 3, "a.*"},
        {"{\"config\":{\"filter_subject\":\"\"}}", 3, ">"},
        {"{\"config\":{\"filter_subject\":7},\"ack_floor\":\"x\"}", 3, ">"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        struct nats_span span;
        arena_init_heap(&arena, 256);
        assert_true(
            nats_span_of_stream(parse("{\"state\":{\"first_seq\":3,\"last_seq\":9}}"), &span));
        nats_span_for_consumer(parse(cases[i].consumer), &arena, &span);
        assert_int_equal(span.next, cases[i].next);
        assert_int_equal(span.last, 9);
        assert_bytes(span.filter, cases[i].filter);
        arena_free(&arena);
    }
}

static void an_answer_without_a_state_is_refused(void **state) {
    (void)state;
    static const char *const cases[] = {"{}", "{\"state\":{\"first_seq\":1}}",
                                        "{\"state\":{\"first_seq\":\"1\",\"last_seq\":2}}"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nats_span span;
        assert_false(nats_span_of_stream(parse(cases[i]), &span));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_read_whole_unless_its_consumer_is_further),
        cmocka_unit_test(an_answer_without_a_state_is_refused),
    };
    return cmocka_run_group_tests_name("nats_span", tests, NULL, NULL);
}
