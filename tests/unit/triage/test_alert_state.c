#include "triage/alerts/alert_state.h"

#include "test.h"

enum { MINUTE = 60 * 1000 };

static const struct alert_rule deep = {.name = {"Deep", 4},
                                       .metric = METRIC_DLQ_DEPTH,
                                       .limit = 100,
                                       .for_ms = 5 * MINUTE,
                                       .repeat_ms = 60 * MINUTE};

static struct wall at(int64_t minutes) {
    return (struct wall){1000000000000 + minutes * MINUTE};
}

static void a_breach_is_told_after_its_time_and_once(void **unused) {
    (void)unused;
    struct alert_state state = {0};
    assert_int_equal(alert_state_step(&state, &deep, true, at(0)), ALERT_NOTHING);
    assert_int_equal(state.stage, ALERT_PENDING);
    assert_int_equal(alert_state_next(&state, &deep).ms, at(5).ms);
    assert_int_equal(alert_state_step(&state, &deep, true, at(4)), ALERT_NOTHING);
    assert_int_equal(alert_state_step(&state, &deep, true, at(5)), ALERT_FIRE);
    assert_int_equal(alert_state_step(&state, &deep, true, at(6)), ALERT_NOTHING);
    assert_int_equal(state.since.ms, at(0).ms);
}

static void a_breach_that_ends_early_is_never_told(void **unused) {
    (void)unused;
    struct alert_state state = {0};
    alert_state_step(&state, &deep, true, at(0));
    assert_int_equal(alert_state_step(&state, &deep, false, at(4)), ALERT_NOTHING);
    assert_int_equal(alert_state_step(&state, &deep, true, at(6)), ALERT_NOTHING);
    assert_int_equal(alert_state_step(&state, &deep, true, at(10)), ALERT_NOTHING);
    assert_int_equal(alert_state_step(&state, &deep, true, at(11)), ALERT_FIRE);
}

static void it_is_repeated_while_it_lasts_and_resolved_when_it_ends(void **unused) {
    (void)unused;
    struct alert_state state = {0};
    alert_state_step(&state, &deep, true, at(0));
    alert_state_step(&state, &deep, true, at(5));
    assert_int_equal(alert_state_next(&state, &deep).ms, at(65).ms);
    assert_int_equal(alert_state_step(&state, &deep, true, at(64)), ALERT_NOTHING);
    assert_int_equal(alert_state_step(&state, &deep, true, at(65)), ALERT_REPEAT);
    assert_int_equal(alert_state_step(&state, &deep, true, at(66)), ALERT_NOTHING);
    assert_int_equal(alert_state_step(&state, &deep, false, at(67)), ALERT_RESOLVE);
    assert_int_equal(alert_state_step(&state, &deep, false, at(68)), ALERT_NOTHING);
    assert_int_equal(state.stage, ALERT_QUIET);
}

static void nobody_is_told_that_a_ticket_is_over(void **unused) {
    (void)unused;
    struct alert_rule ticket = {.limit = 0, .ticket = true};
    struct alert_state state = {0};
    assert_int_equal(alert_state_step(&state, &ticket, true, at(0)), ALERT_FIRE);
    assert_int_equal(alert_state_step(&state, &ticket, true, at(1)), ALERT_NOTHING);
    assert_int_equal(alert_state_step(&state, &ticket, false, at(2)), ALERT_NOTHING);
    assert_int_equal(state.stage, ALERT_QUIET);
}

static void without_a_wait_it_fires_at_once_and_without_repeat_only_once(void **unused) {
    (void)unused;
    struct alert_rule once = {.limit = 0};
    struct alert_state state = {0};
    assert_int_equal(alert_state_step(&state, &once, true, at(0)), ALERT_FIRE);
    assert_int_equal(alert_state_step(&state, &once, true, at(100000)), ALERT_NOTHING);
    assert_int_equal(alert_state_next(&state, &once).ms, WALL_NEVER.ms);
}

static void a_clock_that_goes_back_tells_nothing_twice(void **unused) {
    (void)unused;
    struct alert_state state = {0};
    alert_state_step(&state, &deep, true, at(100));
    alert_state_step(&state, &deep, true, at(105));
    assert_int_equal(alert_state_step(&state, &deep, true, at(0)), ALERT_NOTHING);
    assert_int_equal(alert_state_step(&state, &deep, true, at(59)), ALERT_NOTHING);
    assert_int_equal(alert_state_step(&state, &deep, true, at(60)), ALERT_REPEAT);
}

static void a_limit_is_crossed_from_either_side(void **unused) {
    (void)unused;
    struct alert_rule share = {.limit = 0.95, .below = true};
    assert_false(alert_state_breached(&deep, 100));
    assert_true(alert_state_breached(&deep, 101));
    assert_false(alert_state_breached(&share, 0.95));
    assert_true(alert_state_breached(&share, 0.94));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_breach_is_told_after_its_time_and_once),
        cmocka_unit_test(a_breach_that_ends_early_is_never_told),
        cmocka_unit_test(it_is_repeated_while_it_lasts_and_resolved_when_it_ends),
        cmocka_unit_test(nobody_is_told_that_a_ticket_is_over),
        cmocka_unit_test(without_a_wait_it_fires_at_once_and_without_repeat_only_once),
        cmocka_unit_test(a_clock_that_goes_back_tells_nothing_twice),
        cmocka_unit_test(a_limit_is_crossed_from_either_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
