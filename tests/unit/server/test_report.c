/* What a task that failed elsewhere may report. */
#include "test.h"

#include <stdio.h>

#include "server/api/json/failure.h"
#include "server/api/json/report.h"

static const struct wall now = {1700000000000};

static enum status parse(const char *text, struct message *held, struct outcome *outcome,
                         struct err *err) {
    struct json object;
    assert_int_equal(json_parse(bytes_of(text), &object, err), STATUS_OK);
    return report_parse(object, BYTES("orders"), now, held, outcome, err);
}

static void a_full_report_becomes_message_and_outcome(void **state) {
    (void)state;
    struct message *held = message_new();
    struct outcome outcome;
    struct err err;
    const char *text =
        "{\"task_id\":\"t-1\",\"task_type\":\"price\",\"payload\":{\"a\":1.0},\"error_type\":"
        "\"KeyError\","
        "\"error_message\":\"'x'\",\"stack_trace\":\"File a\\nFile "
        "b\",\"attempts\":3,\"max_attempts\":4,"
        "\"context\":{\"host\":\"w1\"},\"status\":503,\"retry_after\":7,\"verdict\":\"retry\","
        "\"key\":\"k\",\"headers\":{\"a\":\"b\"}}";
    assert_int_equal(parse(text, held, &outcome, &err), STATUS_OK);
    const struct envelope *e = &held->envelope;
    assert_bytes(e->id, "t-1");
    assert_bytes(e->task_id, "t-1");
    assert_bytes(e->task_type, "price");
    assert_bytes(e->queue, "orders");
    assert_bytes(held->body, "{\"a\":1.0}");
    assert_bytes(e->context, "{\"host\":\"w1\"}");
    assert_bytes(e->key, "k");
    assert_int_equal(e->header_count, 1);
    assert_int_equal(e->attempts, 3);
    assert_int_equal(e->max_attempts, 4);
    assert_int_equal(outcome.ending, ENDING_FAILED);
    assert_int_equal(outcome.kind, KIND_REPORTED);
    assert_int_equal(outcome.status, 503);
    assert_bytes(outcome.error_type, "KeyError");
    assert_bytes(outcome.stack_trace, "File a\nFile b");
    assert_int_equal(outcome.retry_after_ms, 7000);
    assert_true(outcome.has_verdict);
    assert_int_equal(outcome.verdict, VERDICT_RETRY);
    message_free(held);
}

static void an_entry_of_a_task_runner_is_taken(void **state) {
    (void)state;
    static const struct {
        const char *json, *id, *context;
        int64_t created_at;
    } rows[] = {
        {"{\"id\":\"e\",\"task_id\":\"t\"}", "t", "{\"entry\":\"e\"}", 1700000000000},
        {"{\"id\":\"e\"}", "e", "", 1700000000000},
        {"{\"task_id\":\"t\",\"status\":\"pending_retry\",\"context\":{ \"a\\u0062\": 1.0 }}", "t",
         "{\"status\":\"pending_retry\", \"a\\u0062\": 1.0 }", 1700000000000},
        {"{\"id\":\"e\",\"task_id\":\"t\",\"status\":\"retrying\",\"context\":{\"status\":7}}", "t",
         "{\"entry\":\"e\",\"status\":7}", 1700000000000},
        {"{\"task_id\":\"t\",\"created_at\":\"2023-11-14T22:13:19.500000\"}", "t", "",
         1699999999500},
        {"{\"task_id\":\"t\",\"created_at\":\"2030-01-01T00:00:00\",\"resolved_at\":null}", "t", "",
         1700000000000},
        {"{\"task_id\":\"t\",\"last_attempted_at\":\"2023-11-14T22:13:18\"}", "t", "",
         1699999998000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct message *held = message_new();
        struct outcome outcome;
        struct err err;
        assert_int_equal(parse(rows[i].json, held, &outcome, &err), STATUS_OK);
        assert_bytes(held->envelope.id, rows[i].id);
        assert_bytes(held->envelope.task_id, rows[i].id);
        assert_bytes(held->envelope.context, rows[i].context);
        assert_int_equal(held->envelope.created_at.ms, rows[i].created_at);
        assert_int_equal(outcome.status, 0);
        message_free(held);
    }
}

static void what_is_left_out_has_a_default(void **state) {
    (void)state;
    struct message *held = message_new();
    struct outcome outcome;
    struct err err;
    assert_int_equal(parse("{\"task_id\":\"t\",\"verdict\":null}", held, &outcome, &err),
                     STATUS_OK);
    assert_int_equal(held->envelope.attempts, 1);
    assert_int_equal(held->envelope.max_attempts, 0);
    assert_bytes(held->body, "null");
    assert_int_equal(outcome.retry_after_ms, -1);
    assert_false(outcome.has_verdict);
    message_free(held);
}

static void retry_after_is_seconds_a_date_or_a_duration(void **state) {
    (void)state;
    static const struct {
        const char *json;
        int64_t ms;
    } rows[] = {
        {"120", 120000},
        {"120.0", 120000},
        {"\"120\"", 120000},
        {"\"5m\"", 300000},
        {"\"Tue, 14 Nov 2023 22:13:30 GMT\"", 10000}, /* now is 22:13:20 */
        {"\"Tue, 14 Nov 2023 22:00:00 GMT\"", 0},
        {"18446744073709551615", FAILURE_RETRY_AFTER_MAX_MS},
        {"\"Sun, 06 Nov 2094 08:49:37 GMT\"", FAILURE_RETRY_AFTER_MAX_MS},
        {"\"400d\"", FAILURE_RETRY_AFTER_MAX_MS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct message *held = message_new();
        struct outcome outcome;
        struct err err;
        char text[128];
        snprintf(text, sizeof text, "{\"task_id\":\"t\",\"retry_after\":%s}", rows[i].json);
        assert_int_equal(parse(text, held, &outcome, &err), STATUS_OK);
        assert_int_equal(outcome.retry_after_ms, rows[i].ms);
        message_free(held);
    }
}

static void mistakes_name_the_member(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"{}", "\"task_id\" is missing"},
        {"{\"task_id\":7}", "\"task_id\" must be a string"},
        {"{\"task_id\":\"\"}", "\"task_id\" must have 1 to 255 bytes"},
        {"{\"task_id\":\"t\",\"attempts\":0}", "\"attempts\" must be a whole number from 1"},
        {"{\"task_id\":\"t\",\"attempts\":\"3\"}", "\"attempts\" must be a whole number"},
        {"{\"task_id\":\"t\",\"status\":42}", "\"status\" must be a whole number from 100 to 599"},
        {"{\"task_id\":\"t\",\"context\":[]}", "\"context\" must be an object"},
        {"{\"task_id\":\"t\",\"error_type\":1}", "\"error_type\" must be a string"},
        {"{\"task_id\":\"t\",\"verdict\":\"maybe\"}", "\"verdict\" must be retry"},
        {"{\"task_id\":\"t\",\"retry_after\":\"soon\"}", "\"retry_after\" must be"},
        {"{\"task_id\":\"t\",\"retry_after\":-1}", "\"retry_after\" must be"},
        {"{\"taskid\":\"t\"}", "did you mean \"task_id\"?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct message *held = message_new();
        struct outcome outcome;
        struct err err;
        assert_int_equal(parse(rows[i][0], held, &outcome, &err), STATUS_INVALID);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("%s: \"%s\" does not say \"%s\"", rows[i][0], err.text, rows[i][1]);
        message_free(held);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_report_becomes_message_and_outcome),
        cmocka_unit_test(an_entry_of_a_task_runner_is_taken),
        cmocka_unit_test(what_is_left_out_has_a_default),
        cmocka_unit_test(retry_after_is_seconds_a_date_or_a_duration),
        cmocka_unit_test(mistakes_name_the_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
