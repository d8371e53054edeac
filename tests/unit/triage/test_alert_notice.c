/* What people are told, in words. */
#include "triage/alert_notice.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_summary_has_units_and_no_exponents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
