/* The wall clock as far as it can be believed. */
#include "base/steady.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static int64_t at(int64_t began_wall, int64_t wall, int64_t passed) {
    return steady_wall((struct instant){{began_wall}, {500}},
                       (struct instant){{wall}, {500 + passed}})
        .ms;
}

static void test_it_never_runs_ahead_of_either_clock(void **state) {
    (void)state;
    assert_int_equal(at(1000, 1060, 60), 1060);         /* both run evenly */
    assert_int_equal(at(1000, 999060, 60), 1060);       /* set ahead */
    assert_int_equal(at(1000, 400, 60), 400);           /* set back */
    assert_int_equal(at(1000, 999060, 998060), 999060); /* time has caught up */
}

static void test_without_a_beginning_the_wall_clock_is_believed(void **state) {
    (void)state;
    assert_int_equal(at(WALL_NEVER.ms, 777, 60), 777);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_never_runs_ahead_of_either_clock),
        cmocka_unit_test(test_without_a_beginning_the_wall_clock_is_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
