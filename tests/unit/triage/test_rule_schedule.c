/* How a triage rule fares: what helps, what does not, and when it stops. */
#include "triage/rules/rule_schedule.h"

#include <stdio.h>

#include "test.h"

enum { MINUTE_MS = 60 * 1000 };

static const struct wall now = {1763182181123};

static struct triage_rule replay_rule(void) {
    struct triage_rule rule;
    triage_rule_init(&rule);
    rule.action = TRIAGE_REPLAY;
    return rule;
}

static void the_wait_doubles_up_to_the_backoff(void **state) {
    (void)state;
    static const struct {
        int64_t every_minutes, backoff_minutes;
        uint32_t useless;
        int64_t wait_minutes;
    } cases[] = {
        {15, 360, 0, 15},   {15, 360, 1, 30},        {15, 360, 2, 60},     {15, 360, 5, 360},
        {15, 360, 31, 360}, {15, 360, 4000000, 360}, {1440, 360, 3, 1440}, {15, 15, 7, 15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct triage_rule rule = replay_rule();
        rule.every_ms = cases[i].every_minutes * MINUTE_MS;
        rule.backoff_ms = cases[i].backoff_minutes * MINUTE_MS;
        assert_int_equal(rule_schedule_wait_ms(&rule, cases[i].useless),
                         cases[i].wait_minutes * MINUTE_MS);
    }
}

static void what_helps_and_what_does_not(void **state) {
    (void)state;
    static const struct {
        struct triage_counts counter;
        bool useless;
    } cases[] = {
        {{.sent = 10, .fixed = 10}, false},
        {{.sent = 10, .fixed = 5, .failed = 5}, false},
        {{.sent = 10, .fixed = 4, .failed = 6}, true},
        {{.sent = 1, .failed = 1}, false}, /* too few to say that it does not help */
        {{.sent = 9, .failed = 9}, false},
        {{.sent = 10, .failed = 10}, true},
        {{.sent = 24, .fixed = 12, .failed = 12}, false},
        {{.sent = 24, .fixed = 11, .failed = 13}, true},
        {{.sent = 24, .fixed = 20, .failed = 4}, false},
        {{.sent = 10, .fixed = 9, .failed = 1, .aborted = true}, true},
        {{.sent = 0}, true},
        {{.sent = 0, .escalated = 2}, false},
        {{.sent = 3}, false}, /* the handler discarded them */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct triage_rule rule = replay_rule();
        struct rule_schedule course = {.stage = TRIAGE_RUNNING, .useless = 1, .replay = "r"};
        rule_schedule_judge(&course, &rule, &cases[i].counter, now);
        assert_int_equal(course.stage, TRIAGE_WAITING);
        assert_int_equal(course.useless, cases[i].useless ? 2 : 0);
        assert_string_equal(course.replay, "");
        assert_int_equal(course.fixed, cases[i].counter.fixed);
        assert_int_equal(course.failed, cases[i].counter.failed);
        assert_int_equal(course.next_run_at.ms, now.ms + (cases[i].useless ? 60 : 15) * MINUTE_MS);
    }
}

static void it_stops_after_so_many_in_a_row_and_can_go_on(void **state) {
    (void)state;
    struct triage_rule rule = replay_rule();
    struct rule_schedule course = {.stage = TRIAGE_WAITING};
    struct triage_counts dead = {.sent = 12, .failed = 9, .fixed = 3};
    struct triage_counts good = {.sent = 12, .fixed = 12};
    const struct triage_counts *const runs[] = {&dead, &dead, &good, &dead, &dead};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        rule_schedule_judge(&course, &rule, runs[i], now);
    assert_int_equal(course.stage, TRIAGE_WAITING);
    rule_schedule_judge(&course, &rule, &dead, now);
    assert_int_equal(course.stage, TRIAGE_STOPPED);
    assert_string_equal(
        course.why, "3 runs in a row did not help; the last one: 9 of 12 letters are dead again");
    assert_int_equal(course.next_run_at.ms, WALL_NEVER.ms);
    rule_schedule_resume(&course, now);
    assert_int_equal(course.stage, TRIAGE_WAITING);
    assert_int_equal(course.next_run_at.ms, now.ms);
    assert_int_equal(course.useless, 0);
    course.stage = TRIAGE_STOPPED;
    rule_schedule_begin(&course, &rule, now);
    assert_int_equal(course.stage, TRIAGE_WAITING);
    assert_int_equal(course.next_run_at.ms, now.ms + 15 * MINUTE_MS);
}

static void its_text_reads_back(void **state) {
    (void)state;
    struct rule_schedule course = {.stage = TRIAGE_STOPPED,
                                   .why = "\"because\"",
                                   .last_run_at = now,
                                   .next_run_at = {now.ms + 1},
                                   .replay = "r-1",
                                   .useless = 3,
                                   .runs = 7,
                                   .letters = {1, 2, 3, 4, 5},
                                   .fixed = 6,
                                   .failed = 8,
                                   .escalated = 9,
                                   .ticket = "t-1",
                                   .ticket_letters = 10};
    struct rule_schedule back;
    struct buf text;
    struct json object;
    struct err err;
    buf_init_heap(&text, 4096);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    rule_schedule_put(&json, &course);
    json_close(&json, '}');
    assert_int_equal(json_parse(buf_view(&text), &object, &err), STATUS_OK);
    assert_int_equal(rule_schedule_read(object, &back, &err), STATUS_OK);
    assert_memory_equal(&course.letters, &back.letters, sizeof course.letters);
    assert_string_equal(course.why, back.why);
    assert_string_equal(course.replay, back.replay);
    assert_string_equal(course.ticket, back.ticket);
    assert_int_equal(back.stage, TRIAGE_STOPPED);
    assert_int_equal(back.last_run_at.ms, now.ms);
    assert_int_equal(back.next_run_at.ms, now.ms + 1);
    assert_int_equal(back.useless + back.runs + back.fixed + back.failed + back.escalated, 33);
    assert_int_equal(back.ticket_letters, 10);
    buf_free(&text);
    assert_int_equal(json_parse(BYTES("{\"state\":\"asleep\"}"), &object, &err), STATUS_OK);
    assert_int_equal(rule_schedule_read(object, &back, &err), STATUS_CORRUPT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wait_doubles_up_to_the_backoff),
        cmocka_unit_test(what_helps_and_what_does_not),
        cmocka_unit_test(it_stops_after_so_many_in_a_row_and_can_go_on),
        cmocka_unit_test(its_text_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
