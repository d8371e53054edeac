#include "test.h"

#include "core/outage/connection_log.h"

static struct mono at(int64_t ms) {
    return (struct mono){ms};
}

static void a_log_without_successes_has_nothing_newer(void **state) {
    (void)state;
    struct connection_log log = {0};
    assert_false(connection_log_has_newer(&log, at(0), 0));
    assert_false(connection_log_has_newer(&log, at(123456789), 0));
}

static void only_connections_opened_later_are_newer(void **state) {
    (void)state;
    struct connection_log log = {0};
    connection_log_success(&log, at(5000), 4);
    assert_true(connection_log_has_newer(&log, at(5000), 3));
    assert_false(connection_log_has_newer(&log, at(5000), 4));
    assert_false(connection_log_has_newer(&log, at(5000), 5));
}

static void an_older_connection_hides_no_newer_one(void **state) {
    (void)state;
    struct connection_log log = {0};
    connection_log_success(&log, at(5000), 4);
    connection_log_success(&log, at(5000), 2);
    connection_log_success(&log, at(20000), 1);
    assert_true(connection_log_has_newer(&log, at(20000), 3));
}

static void a_success_counts_for_a_minute(void **state) {
    (void)state;
    struct connection_log log = {0};
    connection_log_success(&log, at(1000), 9);
    assert_true(connection_log_has_newer(&log, at(60999), 1));
    assert_false(connection_log_has_newer(&log, at(61000), 1));
    connection_log_success(&log, at(90000), 2);
    assert_true(connection_log_has_newer(&log, at(90000), 1));
    assert_false(connection_log_has_newer(&log, at(90000), 2));
}

/* The slots of the window are used again; those in between must not keep what they had. */
static void a_gap_longer_than_the_window_forgets_all_of_it(void **state) {
    (void)state;
    struct connection_log log = {0};
    for (int64_t second = 0; second < CONNECTION_LOG_SECONDS; second++)
        connection_log_success(&log, at(second * 1000), 100);
    connection_log_success(&log, at(1000 * 1000), 1);
    assert_false(connection_log_has_newer(&log, at(1000 * 1000), 1));
    assert_true(connection_log_has_newer(&log, at(1000 * 1000), 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_without_successes_has_nothing_newer),
        cmocka_unit_test(only_connections_opened_later_are_newer),
        cmocka_unit_test(an_older_connection_hides_no_newer_one),
        cmocka_unit_test(a_success_counts_for_a_minute),
        cmocka_unit_test(a_gap_longer_than_the_window_forgets_all_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
