#include "engine/queue/rate.h"

#include "test.h"

enum { MINUTE_MS = 60 * 1000 };

static struct mono at_second(int64_t second) {
    return (struct mono){second * 1000};
}

static void what_happened_in_the_last_minute_is_counted(void **state) {
    (void)state;
    struct rate rate = {0};
    rate_count(&rate, at_second(1000));
    rate_count(&rate, at_second(1000));
    rate_count(&rate, at_second(1030));
    assert_int_equal(rate_per_minute(&rate, at_second(1059), MINUTE_MS), 3);
    assert_int_equal(rate_per_minute(&rate, at_second(1060), MINUTE_MS), 1);
    assert_int_equal(rate_per_minute(&rate, at_second(1090), MINUTE_MS), 0);
}

static void a_long_silence_leaves_nothing(void **state) {
    (void)state;
    struct rate rate = {0};
    rate_count(&rate, at_second(5));
    assert_int_equal(rate_per_minute(&rate, at_second(1000 * 1000), MINUTE_MS), 0);
}

static void a_moment_a_little_back_forgets_nothing(void **state) {
    (void)state;
    struct rate rate = {0};
    rate_count(&rate, at_second(100));
    rate_count(&rate, at_second(99));
    assert_int_equal(rate_per_minute(&rate, at_second(100), MINUTE_MS), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happened_in_the_last_minute_is_counted),
        cmocka_unit_test(a_long_silence_leaves_nothing),
        cmocka_unit_test(a_moment_a_little_back_forgets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
