#include "test.h"

#include "broker/common/contact.h"

static const struct broker_options options = {.queue = {"orders", 6}, .seed = 7};

static void count_ring(void *arg) {
    ++*(int *)arg;
}

static void trouble_and_its_end_are_told_to_who_listens(void **state) {
    (void)state;
    struct contact contact;
    struct broker_health health;
    struct err trouble = {STATUS_UNREACHABLE, "h:1: refused"};
    int rings = 0;
    contact_init_source(&contact, "rabbitmq", &options);
    assert_string_equal(contact.name, "queue orders: rabbitmq");
    contact_health(&contact, &health);
    assert_false(health.connected);
    assert_string_equal(health.trouble.text, "");
    contact_listen(&contact, count_ring, &rings);
    contact_lost(&contact, (struct mono){1000}, &trouble);
    assert_int_equal(rings, 1);
    contact_health(&contact, &health);
    assert_false(health.connected);
    assert_string_equal(health.trouble.text, "h:1: refused");
    contact_made(&contact, (struct mono){1100});
    assert_int_equal(rings, 2);
    contact_health(&contact, &health);
    assert_true(health.connected);
    assert_string_equal(health.trouble.text, "");
    contact_free(&contact);
}

static void tries_are_spread_over_a_time_that_grows_up_to_its_limit(void **state) {
    (void)state;
    struct contact contact;
    struct err trouble = {STATUS_UNREACHABLE, "gone"};
    contact_init(&contact, BYTES("sink"), 7);
    int64_t ceiling = CONTACT_RETRY_FIRST_MS, longest = 0;
    for (int i = 0; i < 200; i++) {
        contact_lost(&contact, (struct mono){5000}, &trouble);
        int64_t delay = contact.next_try.ms - 5000;
        assert_in_range(delay, 1, ceiling);
        longest = delay > longest ? delay : longest;
        ceiling = ceiling * 2 < CONTACT_RETRY_LAST_MS ? ceiling * 2 : CONTACT_RETRY_LAST_MS;
    }
    assert_true(longest > CONTACT_RETRY_LAST_MS / 2);
    contact_made(&contact, (struct mono){5000});
    contact_lost(&contact, (struct mono){5000 + CONTACT_LASTS_MS}, &trouble);
    assert_in_range(contact.next_try.ms - 5000 - CONTACT_LASTS_MS, 1, CONTACT_RETRY_FIRST_MS);
    contact_free(&contact);
}

static void what_is_refused_is_asked_for_ever_more_seldom(void **state) {
    (void)state;
    struct contact contact;
    contact_init(&contact, BYTES("source"), 7);
    struct mono now = {5000};
    int64_t ceiling = CONTACT_RETRY_FIRST_MS, longest = 0;
    for (int i = 0; i < 200; i++) {
        contact_refused(&contact, now);
        int64_t delay = contact.next_question.ms - now.ms;
        assert_in_range(delay, 1, ceiling);
        longest = delay > longest ? delay : longest;
        ceiling = ceiling * 2 < CONTACT_RETRY_LAST_MS ? ceiling * 2 : CONTACT_RETRY_LAST_MS;
        now = mono_after(contact.next_question, CONTACT_LASTS_MS - 1);
    }
    assert_true(longest > CONTACT_RETRY_LAST_MS / 2);
    now = mono_after(contact.next_question, CONTACT_LASTS_MS);
    contact_refused(&contact, now);
    assert_in_range(contact.next_question.ms - now.ms, 1, CONTACT_RETRY_FIRST_MS);
    contact_free(&contact);
}

static void
a_server_that_lets_us_in_and_refuses_everything_is_not_asked_at_full_speed(void **state) {
    (void)state;
    struct contact contact;
    struct err trouble = {STATUS_BUSY, "it is a replica"};
    int64_t longest = 0;
    contact_init(&contact, BYTES("source"), 7);
    for (int i = 0; i < 200; i++) {
        contact_made(&contact, (struct mono){5000});
        contact_lost(&contact, (struct mono){5000 + CONTACT_LASTS_MS - 1}, &trouble);
        int64_t delay = contact.next_try.ms - 5000;
        longest = delay > longest ? delay : longest;
    }
    assert_true(longest > CONTACT_RETRY_LAST_MS / 2);
    contact_free(&contact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_and_its_end_are_told_to_who_listens),
        cmocka_unit_test(what_is_refused_is_asked_for_ever_more_seldom),
        cmocka_unit_test(tries_are_spread_over_a_time_that_grows_up_to_its_limit),
        cmocka_unit_test(
            a_server_that_lets_us_in_and_refuses_everything_is_not_asked_at_full_speed),
    };
    return cmocka_run_group_tests_name("contact", tests, NULL, NULL);
}
