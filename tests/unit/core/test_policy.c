#include "test.h"

#include "core/policy.h"

static struct policy defaults(enum handler_class handler) {
    struct policy policy;
    memset(&policy, 0xff, sizeof policy);
    policy_init(&policy, BYTES("orders"), BYTES("orders.dlq"), handler);
    return policy;
}

static void retries_have_the_documented_defaults(void **state) {
    (void)state;
    struct retry_policy retry = defaults(HANDLER_HTTP).retry;
    assert_int_equal(retry.attempts, 5);
    assert_int_equal(retry.base_ms, 200);
    assert_int_equal(retry.cap_ms, 30000);
    assert_int_equal(retry.jitter, JITTER_FULL);
    assert_int_equal(retry.shape, BACKOFF_EXPONENTIAL);
    assert_int_equal(retry.max_age_ms, 24LL * 60 * 60 * 1000);
    assert_int_equal(retry.retry_after_cap_ms, 60LL * 60 * 1000);
    assert_int_equal(retry.budget_permille, 200);
    assert_int_equal(retry.budget_floor_permille, 3000);
}

static void breaker_and_poison_have_the_documented_defaults(void **state) {
    (void)state;
    struct policy policy = defaults(HANDLER_EXEC);
    assert_false(policy.breaker.off);
    assert_int_equal(policy.breaker.failure_permille, 500);
    assert_int_equal(policy.breaker.window_ms, 10000);
    assert_int_equal(policy.breaker.min_attempts, 20);
    assert_int_equal(policy.breaker.consecutive, 5);
    assert_int_equal(policy.breaker.open_ms, 30000);
    assert_int_equal(policy.poison.crashes, 3);
    assert_int_equal(policy.poison.deliveries, 10);
}

static void a_new_policy_has_names_and_nothing_else(void **state) {
    (void)state;
    struct policy policy = defaults(HANDLER_HTTP);
    assert_bytes(policy.queue, "orders");
    assert_bytes(policy.dlq, "orders.dlq");
    assert_int_equal(policy.rule_count, 0);
    assert_int_equal(policy.route_count, 0);
}

static void presets_follow_the_handler(void **state) {
    (void)state;
    struct policy http = defaults(HANDLER_HTTP), exec = defaults(HANDLER_EXEC);
    struct policy lease = defaults(HANDLER_LEASE), callback = defaults(HANDLER_CALLBACK);
    assert_int_equal(http.preset_count, 1);
    assert_int_equal(http.presets[0], PRESET_HTTP);
    assert_int_equal(exec.preset_count, 2);
    assert_int_equal(exec.presets[0], PRESET_EXEC);
    assert_int_equal(exec.presets[1], PRESET_ERRORS);
    assert_int_equal(lease.preset_count, 2);
    assert_int_equal(lease.presets[0], PRESET_HTTP);
    assert_int_equal(lease.presets[1], PRESET_ERRORS);
    assert_int_equal(callback.preset_count, 2);
    assert_int_equal(callback.presets[0], PRESET_HTTP);
    assert_int_equal(callback.presets[1], PRESET_ERRORS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retries_have_the_documented_defaults),
        cmocka_unit_test(breaker_and_poison_have_the_documented_defaults),
        cmocka_unit_test(a_new_policy_has_names_and_nothing_else),
        cmocka_unit_test(presets_follow_the_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
