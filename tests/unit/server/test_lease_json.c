/* What workers may say about leases, and how a mistake is told. */
#include "test.h"

#include <stdio.h>

#include "server/api/json/lease_json.h"

static const struct wall now = {1700000000000};

static struct json json_of(const char *text) {
    struct json object;
    assert_int_equal(json_parse(bytes_of(text), &object, NULL), STATUS_OK);
    return object;
}

/* Texts of requests without escapes need none of it. */
static char memory[1024];
static struct arena arena_of_asks(void) {
    struct arena arena;
    arena_init_fixed(&arena, memory, sizeof memory);
    return arena;
}

static void an_empty_request_asks_for_one_message_at_once(void **state) {
    (void)state;
    struct engine_lease lease;
    struct err err;
    struct arena arena = arena_of_asks();
    assert_int_equal(lease_json_parse_ask(json_of("{}"), &arena, &lease, &err), STATUS_OK);
    assert_int_equal(lease.max, 1);
    assert_int_equal(lease.wait_ms, 0);
    assert_int_equal(lease.lease_ms, 30000);
}

static void a_request_says_how_many_and_for_how_long(void **state) {
    (void)state;
    struct engine_lease lease;
    struct err err;
    struct arena arena = arena_of_asks();
    const char *text =
        "{\"max\":10,\"wait_ms\":1000,\"lease_ms\":5000,\"version\":\"1.4\\u002e2\"}";
    assert_int_equal(lease_json_parse_ask(json_of(text), &arena, &lease, &err), STATUS_OK);
    assert_int_equal(lease.max, 10);
    assert_int_equal(lease.wait_ms, 1000);
    assert_int_equal(lease.lease_ms, 5000);
    assert_bytes(lease.version, "1.4.2");
}

static void limits_are_named(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{\"max\":0}", "\"max\" must be a whole number from 1 to 1000"},
        {"{\"max\":\"1\"}", "\"max\" must be a whole number from 1 to 1000"},
        {"{\"wait_ms\":-1}", "\"wait_ms\" must be a whole number from 0 to 60000"},
        {"{\"wait_ms\":60001}", "\"wait_ms\" must be a whole number from 0 to 60000"},
        {"{\"lease_ms\":0}", "\"lease_ms\" must be a whole number from 1 to 43200000"},
        {"{\"lease_ms\":1.5}", "\"lease_ms\" must be a whole number from 1 to 43200000"},
        {"{\"leese_ms\":1}", "unknown member \"leese_ms\"; did you mean \"lease_ms\"?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct engine_lease lease;
        struct err err;
        struct arena arena = arena_of_asks();
        assert_int_equal(lease_json_parse_ask(json_of(cases[i][0]), &arena, &lease, &err),
                         STATUS_INVALID);
        assert_string_equal(err.text, cases[i][1]);
    }
}

static void a_failure_says_what_it_knows(void **state) {
    (void)state;
    struct engine_release release;
    struct err err;
    struct arena arena;
    arena_init_heap(&arena, 1024);
    const char *text =
        "{\"error_type\":\"KeyError\",\"error_message\":\"x\",\"stack_trace\":\"at\\ny\","
        "\"status\":429,\"verdict\":\"dlq\",\"retry_after\":\"5m\"}";
    assert_int_equal(
        lease_json_parse_one(json_of(text), RELEASE_FAIL, BYTES("l"), now, &arena, &release, &err),
        STATUS_OK);
    assert_bytes(release.lease, "l");
    assert_int_equal(release.outcome.ending, ENDING_FAILED);
    assert_int_equal(release.outcome.kind, KIND_REPORTED);
    assert_bytes(release.outcome.error_type, "KeyError");
    assert_bytes(release.outcome.stack_trace, "at\ny");
    assert_int_equal(release.outcome.status, 429);
    assert_true(release.outcome.has_verdict);
    assert_int_equal(release.outcome.verdict, VERDICT_DLQ);
    assert_int_equal(release.outcome.retry_after_ms, 300000);
    arena_free(&arena);
}

static void an_ack_may_bring_an_answer(void **state) {
    (void)state;
    struct engine_release release;
    struct err err;
    assert_int_equal(lease_json_parse_one(json_of("{\"result\":{\"n\":1.0}}"), RELEASE_ACK,
                                          BYTES("l"), now, NULL, &release, &err),
                     STATUS_OK);
    assert_int_equal(release.outcome.ending, ENDING_OK);
    assert_bytes(release.outcome.answer, "{\"n\":1.0}");
    assert_int_equal(lease_json_parse_one(json_of("{\"lease\":\"x\"}"), RELEASE_ACK, BYTES("l"),
                                          now, NULL, &release, &err),
                     STATUS_INVALID);
}

static void many_answers_stand_in_one_order(void **state) {
    (void)state;
    struct engine_release *releases;
    size_t count;
    struct err err;
    struct arena arena;
    arena_init_heap(&arena, 1024);
    const char *text = "{\"extend\":[{\"lease\":\"e\",\"lease_ms\":7},\"f\"],"
                       "\"fail\":[{\"lease\":\"c\",\"error_type\":\"X\"}],"
                       "\"ack\":[\"a\",{\"lease\":\"b\",\"result\":1}]}";
    assert_int_equal(lease_json_parse_bulk(json_of(text), now, &arena, &releases, &count, &err),
                     STATUS_OK);
    assert_int_equal(count, 5);
    static const char order[] = "abcef";
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(releases[i].lease.len, 1);
        assert_int_equal(releases[i].lease.ptr[0], order[i]);
    }
    assert_bytes(releases[1].outcome.answer, "1");
    assert_int_equal(releases[2].kind, RELEASE_FAIL);
    assert_int_equal(releases[3].lease_ms, 7);
    assert_int_equal(releases[4].lease_ms, 0);
    arena_free(&arena);
}

static void a_mistake_among_many_is_found(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{\"ack\":\"a\"}", "\"ack\" must be a list, not a string"},
        {"{\"ack\":[\"a\",7]}", "ack[1]: must be a string, not a number"},
        {"{\"fail\":[{\"status\":503}]}", "fail[0]: \"lease\" is missing"},
        {"{\"fail\":[{\"lease\":\"a\",\"lease_ms\":1}]}", "fail[0]: unknown member \"lease_ms\""},
        {"{\"extend\":[{\"lease\":\"a\",\"lease_ms\":0}]}",
         "extend[0]: \"lease_ms\" must be a whole number from 1 to 43200000"},
        {"{\"nack\":[]}", "unknown member \"nack\"; did you mean \"ack\"?"},
    };
    struct arena arena;
    arena_init_heap(&arena, 1024);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct engine_release *releases;
        size_t count;
        struct err err;
        assert_int_equal(
            lease_json_parse_bulk(json_of(cases[i][0]), now, &arena, &releases, &count, &err),
            STATUS_INVALID);
        assert_true(bytes_starts(bytes_of(err.text), bytes_of(cases[i][1])));
    }
    arena_free(&arena);
}

static void more_than_a_thousand_answers_are_too_many(void **state) {
    (void)state;
    struct engine_release *releases;
    size_t count;
    struct err err;
    struct arena arena;
    struct buf text;
    arena_init_heap(&arena, 1024);
    buf_init_heap(&text, 1 << 20);
    for (int items = 1000; items <= 1001; items++) {
        buf_clear(&text);
        buf_str(&text, "{\"ack\":[\"a\"");
        for (int i = 1; i < items; i++)
            buf_str(&text, ",\"a\"");
        buf_str(&text, "]}");
        enum status status =
            lease_json_parse_bulk(json_of(buf_cstr(&text)), now, &arena, &releases, &count, &err);
        assert_int_equal(status, items == 1000 ? STATUS_OK : STATUS_INVALID);
    }
    assert_string_equal(err.text, "there are 1001 answers; at most 1000 are taken at a time");
    buf_free(&text);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_request_asks_for_one_message_at_once),
        cmocka_unit_test(a_request_says_how_many_and_for_how_long),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(a_failure_says_what_it_knows),
        cmocka_unit_test(an_ack_may_bring_an_answer),
        cmocka_unit_test(many_answers_stand_in_one_order),
        cmocka_unit_test(a_mistake_among_many_is_found),
        cmocka_unit_test(more_than_a_thousand_answers_are_too_many),
    };
    return cmocka_run_group_tests_name("server leasing", tests, NULL, NULL);
}
