/* What people are told, in words. */
#include "triage/alerts/alert_notice.h"

#include "test.h"

static const struct {
    enum alert_metric metric;
    double value, limit;
    bool below;
    const char *said;
} cases[] = {
    {METRIC_DLQ_DEPTH, 1500, 1000, false, "letters that wait: 1500 (above 1000)"},
    {METRIC_DLQ_DEPTH, 12345678, 1e7, false, "letters that wait: 12345678 (above 10000000)"},
    {METRIC_DLQ_OLDEST, 601234.567, 86400, false,
     "age of the oldest letter: 6 d 23 h (above 24 h)"},
    {METRIC_DLQ_OLDEST, 1e300, 0, false, "age of the oldest letter: 11574074 d 1 h (above 0 s)"},
    {METRIC_CAP_FORECAST, 485.25, 3600, true,
     "at this rate its cap is reached in 8 min 5 s (below 1 h)"},
    {METRIC_BREAKER_OPEN, 61, 60, false,
     "time since the breaker was last closed: 1 min 1 s (above 1 min)"},
    {METRIC_DLQ_CAP_RATIO, 0.925, 0.9, false, "share of its cap that is used: 92.5% (above 90%)"},
    {METRIC_SUCCESS_RATIO, 0.9 / 3, 0.9995, true,
     "share of attempts that succeeded: 30% (below 99.95%)"},
    {METRIC_REASON_RATIO, 1234567.891, 3, false,
     "one reason arrives at 1234567.89 times its usual rate (above 3)"},
    {METRIC_QUEUE_HALTED, 1, 0, false, "the queue is halted"},
};

static void a_summary_has_units_and_no_exponents(void **state) {
    (void)state;
    char memory[ALERT_SUMMARY_MAX];
    struct buf said;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct alert_rule rule = {
            .metric = cases[i].metric, .limit = cases[i].limit, .below = cases[i].below};
        const struct alert_notice notice = {
            .rule = &rule, .subject = BYTES("orders"), .value = cases[i].value, .step = ALERT_FIRE};
        buf_init_fixed(&said, memory, sizeof memory);
        alert_notice_summary(&notice, &said);
        assert_true(bytes_starts(buf_view(&said), BYTES("orders: ")));
        assert_bytes(bytes_cut(buf_view(&said), 8, said.len), cases[i].said);
    }
}

static struct bytes written(enum alert_receiver_kind kind, const struct alert_notice *notice,
                            struct buf *out) {
    struct alert_receiver receiver = {.kind = kind, .key = BYTES("k")};
    buf_clear(out);
    alert_notice_put(notice, &receiver, out);
    return buf_view(out);
}

static void assert_says(struct bytes json, const char *part) {
    if (bytes_find(json, bytes_of(part)) >= json.len)
        fail_msg("%.*s lacks %s", BYTES_ARG(json), part);
}

static void owner_and_runbook_stand_in_every_form(void **state) {
    (void)state;
    char memory[ALERT_NOTICE_MAX];
    struct buf out;
    struct alert_rule rule = {.name = BYTES("R"), .metric = METRIC_DLQ_DEPTH};
    struct alert_notice notice = {.rule = &rule,
                                  .subject = BYTES("orders.dlq"),
                                  .owner = BYTES("team-orders"),
                                  .runbook = BYTES("https://runbooks/orders"),
                                  .step = ALERT_FIRE};
    buf_init_fixed(&out, memory, sizeof memory);
    struct bytes hook = written(RECEIVER_WEBHOOK, &notice, &out);
    assert_says(hook, "\"owner\":\"team-orders\",\"runbook\":\"https://runbooks/orders\"");
    struct bytes slack = written(RECEIVER_SLACK, &notice, &out);
    assert_says(slack, "\"title\":\"Owner\",\"value\":\"team-orders\"");
    assert_says(slack, "\"title\":\"Runbook\",\"value\":\"https://runbooks/orders\"");
    struct bytes pager = written(RECEIVER_PAGERDUTY, &notice, &out);
    assert_says(pager, "\"links\":[{\"href\":\"https://runbooks/orders\",\"text\":\"Runbook\"}]");
    assert_says(pager, "\"owner\":\"team-orders\"");
    struct bytes manager = written(RECEIVER_ALERTMANAGER, &notice, &out);
    assert_says(manager, "\"owner\":\"team-orders\"");
    assert_says(manager, "\"runbook_url\":\"https://runbooks/orders\"");
}

static void a_rules_runbook_goes_before_and_none_is_null(void **state) {
    (void)state;
    char memory[ALERT_NOTICE_MAX];
    struct buf out;
    struct alert_rule rule = {
        .name = BYTES("R"), .metric = METRIC_DLQ_DEPTH, .runbook = BYTES("ask Ada")};
    struct alert_notice notice = {.rule = &rule,
                                  .subject = BYTES("orders.dlq"),
                                  .runbook = BYTES("https://runbooks/orders"),
                                  .step = ALERT_FIRE};
    buf_init_fixed(&out, memory, sizeof memory);
    assert_says(written(RECEIVER_WEBHOOK, &notice, &out), "\"owner\":null,\"runbook\":\"ask Ada\"");
    struct bytes pager = written(RECEIVER_PAGERDUTY, &notice, &out);
    assert_true(bytes_find(pager, BYTES("\"links\"")) >= pager.len); /* it is no URL */
    rule.runbook = notice.runbook = BYTES_NONE;
    assert_says(written(RECEIVER_WEBHOOK, &notice, &out), "\"owner\":null,\"runbook\":null");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_summary_has_units_and_no_exponents),
        cmocka_unit_test(owner_and_runbook_stand_in_every_form),
        cmocka_unit_test(a_rules_runbook_goes_before_and_none_is_null)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
