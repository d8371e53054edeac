#include "engine/rate.h"

#include "test.h"

static struct mono at_second(int64_t second) {
    return (struct mono){second * 1000};
}

static void what_happened_in_the_last_minute_is_counted(void **state) {
    (void)state;
    struct rate rate = {0};
    rate_count(&rate, at_second(1000));
    rate_count(&rate, at_second(1000));
    rate_count(&rate, at_second(1030));
    assert_int_equal(rate_total(&rate, at_second(1059)), 3);
    assert_int_equal(rate_total(&rate, at_second(1060)), 1);
    assert_int_equal(rate_total(&rate, at_second(1090)), 0);
}

static void a_long_silence_leaves_nothing(void **state) {
    (void)state;
    struct rate rate = {0};
    rate_count(&rate, at_second(5));
    assert_int_equal(rate_total(&rate, at_second(1000 * 1000)), 0);
}

static void a_moment_a_little_back_forgets_nothing(void **state) {
    (void)state;
    struct rate rate = {0};
    rate_count(&rate, at_second(100));
    rate_count(&rate, at_second(99));
    assert_int_equal(rate_total(&rate, at_second(100)), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happened_in_the_last_minute_is_counted),
        cmocka_unit_test(a_long_silence_leaves_nothing),
        cmocka_unit_test(a_moment_a_little_back_forgets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
