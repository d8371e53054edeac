/* How fast letters go, and when a replay makes things worse: both pure, both over hours of made-up
 * time. */
#include "test.h"
#include "triage/replay/send_rate.h"
#include "triage/replay/failure_guard.h"
#include "triage/replay/replay_order.h"

enum { START_MS = 1000000, SECOND_MS = 1000 };

static struct mono at(int64_t ms) {
    return (struct mono){START_MS + ms};
}

/* Sends as much as it may until `until_ms`, waking `late_ms` too late each time; returns how many
 * in each second. */
static void send(struct send_rate *pace, int64_t until_ms, int64_t late_ms, uint32_t *seconds) {
    for (int64_t now = 0; now < until_ms;) {
        uint32_t room = send_rate_room(pace, at(now), 1000);
        send_rate_sent(pace, at(now), room);
        seconds[now / SECOND_MS] += room;
        int64_t next = send_rate_next(pace).ms - START_MS;
        now = (next > now ? next : now + 1) + late_ms;
    }
}

static void the_ramp_doubles_every_ten_seconds(void **state) {
    (void)state;
    struct send_rate pace;
    send_rate_begin(&pace, 200, true, at(0));
    assert_true(send_rate_rate(&pace, at(0)) == 20);
    assert_true(send_rate_rate(&pace, at(9999)) == 20);
    assert_true(send_rate_rate(&pace, at(10000)) == 40);
    assert_true(send_rate_rate(&pace, at(30000)) == 160);
    assert_true(send_rate_rate(&pace, at(40000)) == 200);
    assert_true(send_rate_is_ramping(&pace, at(39999)));
    assert_false(send_rate_is_ramping(&pace, at(40000)));
}

static void a_small_rate_has_no_ramp(void **state) {
    (void)state;
    struct send_rate pace;
    send_rate_begin(&pace, 5, true, at(0));
    assert_true(send_rate_rate(&pace, at(0)) == 5);
    assert_false(send_rate_is_ramping(&pace, at(0)));
}

static void no_second_has_more_than_a_tenth_above_the_rate(void **state) {
    (void)state;
    for (int64_t late_ms = 0; late_ms <= 90; late_ms += 15) {
        uint32_t seconds[200] = {0};
        struct send_rate pace;
        send_rate_begin(&pace, 50, false, at(0));
        send(&pace, 100 * SECOND_MS, late_ms, seconds);
        uint32_t total = 0;
        for (size_t i = 0; i < 100; i++) {
            total += seconds[i];
            assert_true(seconds[i] <= 55);
        }
        if (late_ms < SEND_RATE_SLACK_MS - 20)
            assert_in_range(total, 4900, 5100);
    }
}

static void a_long_stall_is_not_caught_up(void **state) {
    (void)state;
    struct send_rate pace;
    send_rate_begin(&pace, 100, false, at(0));
    assert_in_range(send_rate_room(&pace, at(60 * SECOND_MS), 1000), 1, 10);
}

static void without_a_limit_everything_may_go(void **state) {
    (void)state;
    struct send_rate pace;
    send_rate_begin(&pace, 0, true, at(0));
    assert_int_equal(send_rate_room(&pace, at(0), 256), 256);
    assert_false(send_rate_is_ramping(&pace, at(0)));
}

static void the_estimate_counts_the_ramp(void **state) {
    (void)state;
    /* 10/s for 10 s, 20/s for 10 s, 40/s for 10 s, then 50/s. */
    assert_true(send_rate_estimate(50, true, 700 + 500) == 30 + 10);
    assert_true(send_rate_estimate(50, false, 500) == 10);
    assert_true(send_rate_estimate(0, true, 500) == 0);
}

/* ---- relapse ---- */

static struct failure_guard relapse;

static bool is_here(int64_t now_ms) {
    char memory[256];
    struct buf why;
    buf_init_fixed(&why, memory, sizeof memory);
    return failure_guard_is_here(&relapse, at(now_ms), &why);
}

static void count_sent(struct mono now, int count) {
    while (count--)
        failure_guard_sent(&relapse, now);
}

/* So many were sent, at a pace that keeps each second small; of the last few, so many are dead with
 * the fingerprint that they had before. */
static void more_than_one_percent_of_the_last_300_dead_of_the_same_is_a_relapse(void **state) {
    (void)state;
    static const struct {
        int sent, same, ago; /* the first of the dead was sent so many before the last */
        bool aborts;
    } rows[] = {
        {11, 2, 5, false},       {11, 3, 5, true},       {200, 2, 100, false},
        {200, 3, 100, true},     {299, 3, 298, true},    {300, 3, 299, false},
        {300, 4, 299, true},     {5000, 3, 200, false},  {5000, 4, 200, true},
        {5000, 4, 299, true},    {5000, 4, 300, false},  {5000, 100, 1000, false},
        {5000, 100, 398, false}, {5000, 100, 395, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        relapse = (struct failure_guard){.sent = 0};
        relapse = (struct failure_guard){.sent = 0};
        failure_guard_begin(&relapse, at(0));
        count_sent(at(0), rows[i].sent);
        for (int n = 0; n < rows[i].same; n++)
            failure_guard_same(&relapse, (uint64_t)(rows[i].sent - rows[i].ago + n));
        assert_int_equal(is_here(100), rows[i].aborts);
        failure_guard_begin(&relapse, at(200)); /* it had to wait, and goes on */
        assert_int_equal(is_here(300), rows[i].aborts);
        failure_guard_same(&relapse, 0); /* sent by an earlier life */
        count_sent(at(300), FAILURE_GUARD_LAST_SENT);
        assert_false(is_here(400));
    }
}

static void three_dead_of_few_is_a_relapse_and_two_are_not(void **state) {
    (void)state;
    relapse = (struct failure_guard){.sent = 0};
    failure_guard_begin(&relapse, at(0));
    count_sent(at(0), 40);
    failure_guard_dead(&relapse, at(0), at(100));
    failure_guard_dead(&relapse, at(0), at(100));
    assert_false(is_here(200));
    failure_guard_dead(&relapse, at(0), at(100));
    assert_true(is_here(200));
}

static void five_percent_are_borne_and_more_are_not(void **state) {
    (void)state;
    relapse = (struct failure_guard){.sent = 0};
    failure_guard_begin(&relapse, at(0));
    count_sent(at(0), 1000);
    for (int i = 0; i < 50; i++)
        failure_guard_dead(&relapse, at(0), at(500));
    assert_false(is_here(600));
    failure_guard_dead(&relapse, at(0), at(500));
    assert_true(is_here(600));
}

static void only_those_sent_in_the_last_thirty_seconds_count(void **state) {
    (void)state;
    relapse = (struct failure_guard){.sent = 0};
    failure_guard_begin(&relapse, at(0));
    count_sent(at(0), 10);
    for (int i = 0; i < 10; i++)
        failure_guard_dead(&relapse, at(0), at(31 * SECOND_MS));
    count_sent(at(31 * SECOND_MS), 100);
    failure_guard_drained(&relapse, at(31 * SECOND_MS), 100);
    assert_false(is_here(31 * SECOND_MS));
}

static void a_dlq_that_fills_as_fast_as_it_drains_is_a_relapse(void **state) {
    (void)state;
    relapse = (struct failure_guard){.sent = 0};
    failure_guard_begin(&relapse, at(0));
    for (int64_t second = 0; second < 60; second++) {
        count_sent(at(second * SECOND_MS), 10);
        failure_guard_drained(&relapse, at(second * SECOND_MS), 10);
        failure_guard_refilled(&relapse, at(second * SECOND_MS), second < 30 ? 9 : 11);
        if (second < 30)
            assert_false(is_here(second * SECOND_MS));
    }
    assert_true(is_here(59 * SECOND_MS));
}

static void silence_is_no_relapse(void **state) {
    (void)state;
    relapse = (struct failure_guard){.sent = 0};
    failure_guard_begin(&relapse, at(0));
    assert_false(is_here(60 * SECOND_MS));
    failure_guard_refilled(&relapse, at(60 * SECOND_MS), 100); /* nothing was sent */
    assert_false(is_here(60 * SECOND_MS));
}

/* ---- rates ---- */

static void rates_are_read_and_printed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum replay_rate_kind kind;
        double value;
    } good[] = {{"50/s", REPLAY_RATE_FIXED, 50},
                {"0.5/s", REPLAY_RATE_FIXED, 0.5},
                {"15%", REPLAY_RATE_SHARE, 15},
                {"max", REPLAY_RATE_UNLIMITED, 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct replay_rate rate;
        char memory[64];
        struct buf text;
        buf_init_fixed(&text, memory, sizeof memory);
        assert_true(replay_rate_parse(bytes_of(good[i].text), &rate));
        assert_int_equal(rate.kind, good[i].kind);
        assert_true(rate.value == good[i].value);
        replay_rate_put(&rate, &text);
        assert_bytes(buf_view(&text), good[i].text);
    }
}

static void what_is_no_rate_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",     "50",     "/s",    "0/s",     "-1/s",          "1e3/s",
        "101%", "50/min", "50 /s", "1.2.3/s", "99999999999/s", "%"};
    struct replay_rate rate;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(replay_rate_parse(bytes_of(bad[i]), &rate));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ramp_doubles_every_ten_seconds),
        cmocka_unit_test(a_small_rate_has_no_ramp),
        cmocka_unit_test(no_second_has_more_than_a_tenth_above_the_rate),
        cmocka_unit_test(a_long_stall_is_not_caught_up),
        cmocka_unit_test(without_a_limit_everything_may_go),
        cmocka_unit_test(the_estimate_counts_the_ramp),
        cmocka_unit_test(more_than_one_percent_of_the_last_300_dead_of_the_same_is_a_relapse),
        cmocka_unit_test(three_dead_of_few_is_a_relapse_and_two_are_not),
        cmocka_unit_test(five_percent_are_borne_and_more_are_not),
        cmocka_unit_test(only_those_sent_in_the_last_thirty_seconds_count),
        cmocka_unit_test(a_dlq_that_fills_as_fast_as_it_drains_is_a_relapse),
        cmocka_unit_test(silence_is_no_relapse),
        cmocka_unit_test(rates_are_read_and_printed),
        cmocka_unit_test(what_is_no_rate_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
