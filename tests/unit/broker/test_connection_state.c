#include "test.h"

#include "broker/common/connection_state.h"

static const struct broker_options options = {.queue = {"orders", 6}, .seed = 7};

static void count_ring(void *arg) {
    ++*(int *)arg;
}

static void trouble_and_its_end_are_told_to_who_listens(void **state) {
    (void)state;
    struct connection_state connection;
    struct broker_health health;
    struct err trouble = {STATUS_UNREACHABLE, "h:1: refused"};
    int rings = 0;
    connection_state_init_source(&connection, "rabbitmq", &options);
    assert_string_equal(connection.name, "queue orders: rabbitmq");
    connection_state_health(&connection, &health);
    assert_false(health.connected);
    assert_string_equal(health.trouble.text, "");
    connection_state_listen(&connection, count_ring, &rings);
    connection_state_lost(&connection, (struct mono){1000}, &trouble);
    assert_int_equal(rings, 1);
    connection_state_health(&connection, &health);
    assert_false(health.connected);
    assert_string_equal(health.trouble.text, "h:1: refused");
    connection_state_made(&connection, (struct mono){1100});
    assert_int_equal(rings, 2);
    connection_state_health(&connection, &health);
    assert_true(health.connected);
    assert_string_equal(health.trouble.text, "");
    connection_state_free(&connection);
}

static void tries_are_spread_over_a_time_that_grows_up_to_its_limit(void **state) {
    (void)state;
    struct connection_state connection;
    struct err trouble = {STATUS_UNREACHABLE, "gone"};
    connection_state_init(&connection, BYTES("sink"), 7);
    int64_t ceiling = CONNECTION_STATE_RETRY_FIRST_MS, longest = 0;
    for (int i = 0; i < 200; i++) {
        connection_state_lost(&connection, (struct mono){5000}, &trouble);
        int64_t delay = connection.next_try.ms - 5000;
        assert_in_range(delay, 1, ceiling);
        longest = delay > longest ? delay : longest;
        ceiling = ceiling * 2 < CONNECTION_STATE_RETRY_LAST_MS ? ceiling * 2
                                                               : CONNECTION_STATE_RETRY_LAST_MS;
    }
    assert_true(longest > CONNECTION_STATE_RETRY_LAST_MS / 2);
    connection_state_made(&connection, (struct mono){5000});
    connection_state_lost(&connection, (struct mono){5000 + CONNECTION_STATE_LASTS_MS}, &trouble);
    assert_in_range(connection.next_try.ms - 5000 - CONNECTION_STATE_LASTS_MS, 1,
                    CONNECTION_STATE_RETRY_FIRST_MS);
    connection_state_free(&connection);
}

static void what_is_refused_is_asked_for_ever_more_seldom(void **state) {
    (void)state;
    struct connection_state connection;
    connection_state_init(&connection, BYTES("source"), 7);
    struct mono now = {5000};
    int64_t ceiling = CONNECTION_STATE_RETRY_FIRST_MS, longest = 0;
    for (int i = 0; i < 200; i++) {
        connection_state_refused(&connection, now);
        int64_t delay = connection.next_question.ms - now.ms;
        assert_in_range(delay, 1, ceiling);
        longest = delay > longest ? delay : longest;
        ceiling = ceiling * 2 < CONNECTION_STATE_RETRY_LAST_MS ? ceiling * 2
                                                               : CONNECTION_STATE_RETRY_LAST_MS;
        now = mono_after(connection.next_question, CONNECTION_STATE_LASTS_MS - 1);
    }
    assert_true(longest > CONNECTION_STATE_RETRY_LAST_MS / 2);
    now = mono_after(connection.next_question, CONNECTION_STATE_LASTS_MS);
    connection_state_refused(&connection, now);
    assert_in_range(connection.next_question.ms - now.ms, 1, CONNECTION_STATE_RETRY_FIRST_MS);
    connection_state_free(&connection);
}

static void
a_server_that_lets_us_in_and_refuses_everything_is_not_asked_at_full_speed(void **state) {
    (void)state;
    struct connection_state connection;
    struct err trouble = {STATUS_BUSY, "it is a replica"};
    int64_t longest = 0;
    connection_state_init(&connection, BYTES("source"), 7);
    for (int i = 0; i < 200; i++) {
        connection_state_made(&connection, (struct mono){5000});
        connection_state_lost(&connection, (struct mono){5000 + CONNECTION_STATE_LASTS_MS - 1},
                              &trouble);
        int64_t delay = connection.next_try.ms - 5000;
        longest = delay > longest ? delay : longest;
    }
    assert_true(longest > CONNECTION_STATE_RETRY_LAST_MS / 2);
    connection_state_free(&connection);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_and_its_end_are_told_to_who_listens),
        cmocka_unit_test(what_is_refused_is_asked_for_ever_more_seldom),
        cmocka_unit_test(tries_are_spread_over_a_time_that_grows_up_to_its_limit),
        cmocka_unit_test(
            a_server_that_lets_us_in_and_refuses_everything_is_not_asked_at_full_speed),
    };
    return cmocka_run_group_tests_name("connection_state", tests, NULL, NULL);
}
