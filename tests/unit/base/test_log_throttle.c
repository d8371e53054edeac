/* Trouble is told at its beginning, seldom while it lasts, and at its end. */
#include "base/log_throttle.h"
#include "test.h"

static struct mono at(int64_t ms) {
    return (struct mono){ms};
}

static void trouble_that_lasts_is_told_at_once_and_then_seldom(void **state) {
    (void)state;
    struct log_throttle complaint = {0};
    assert_true(log_throttle_is_due(&complaint, at(7)));
    for (int64_t ms = 1007; ms < 7 + LOG_THROTTLE_AGAIN_MS; ms += 1000)
        assert_false(log_throttle_is_due(&complaint, at(ms)));
    assert_true(log_throttle_is_due(&complaint, at(7 + LOG_THROTTLE_AGAIN_MS)));
    assert_false(log_throttle_is_due(&complaint, at(8 + LOG_THROTTLE_AGAIN_MS)));
}

static void its_end_is_told_once_and_what_follows_is_new(void **state) {
    (void)state;
    struct log_throttle complaint = {0};
    assert_false(log_throttle_ends(&complaint));
    assert_true(log_throttle_is_due(&complaint, at(7)));
    assert_true(log_throttle_ends(&complaint));
    assert_false(log_throttle_ends(&complaint));
    assert_true(log_throttle_is_due(&complaint, at(8)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_that_lasts_is_told_at_once_and_then_seldom),
        cmocka_unit_test(its_end_is_told_once_and_what_follows_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
