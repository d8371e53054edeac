#include <stdio.h>
#include <time.h>

#include "test.h"

#include "base/instant.h"
#include "base/text/uuid.h"

/* Every 25 hours and 1 ms from 1900 to 2200, against the C library. */
static void times_are_spelled_as_the_calendar_has_them(void **state) {
    (void)state;
    const int64_t from = -2208988800000, until = 7258118400000;
    for (int64_t ms = from; ms < until; ms += 25 * 60 * 60 * 1000 + 1) {
        int64_t rest = (ms % 1000 + 1000) % 1000;
        time_t seconds = (time_t)((ms - rest) / 1000);
        struct tm tm;
        char expected[INSTANT_TEXT_SIZE], text[INSTANT_TEXT_SIZE];
        size_t len =
            strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
        snprintf(expected + len, sizeof expected - len, ".%03dZ", (int)rest);
        assert_string_equal(wall_text((struct wall){ms}, text), expected);
        struct wall back;
        assert_true(wall_parse(bytes_of(text), &back));
        assert_int_equal(back.ms, ms);
    }
}

static void wall_times_are_written_and_read(void **state) {
    (void)state;
    char text[INSTANT_TEXT_SIZE];
    struct wall at;
    assert_string_equal(wall_text((struct wall){1794718181123}, text), "2026-11-15T04:49:41.123Z");
    assert_true(wall_parse(BYTES("2026-11-15T04:49:41.123Z"), &at));
    assert_int_equal(at.ms, 1794718181123);
    assert_true(wall_parse(BYTES("2026-11-15T05:49:41+01:00"), &at));
    assert_int_equal(at.ms, 1794718181000);
    assert_false(wall_parse(BYTES("2026-02-30T00:00:00Z"), &at));
    assert_false(wall_parse(BYTES("2026-11-15"), &at));
    assert_false(wall_parse(BYTES("2026-11-15T06:29:41"), &at));
}

static void a_time_without_a_zone_may_be_utc(void **state) {
    (void)state;
    struct wall at;
    assert_true(wall_parse_utc(BYTES("2026-11-15T04:49:41.123456"), &at));
    assert_int_equal(at.ms, 1794718181123);
    assert_true(wall_parse_utc(BYTES("2026-11-15T04:49:41"), &at));
    assert_int_equal(at.ms, 1794718181000);
    assert_true(wall_parse_utc(BYTES("2026-11-15T05:49:41+01:00"), &at));
    assert_int_equal(at.ms, 1794718181000);
    assert_false(wall_parse_utc(BYTES("2026-11-15T04:49:41 or so"), &at));
    assert_false(wall_parse_utc(BYTES("2026-11-15"), &at));
}

static void the_three_http_dates_are_one_moment(void **state) {
    (void)state;
    static const char *const forms[] = {"Sun, 06 Nov 1994 08:49:37 GMT",
                                        "Sunday, 06-Nov-94 08:49:37 GMT",
                                        "Sun Nov  6 08:49:37 1994"};
    for (size_t i = 0; i < 3; i++) {
        struct wall at;
        assert_true(wall_parse_http(bytes_of(forms[i]), &at));
        assert_int_equal(at.ms, 784111777000);
    }
    struct wall at;
    assert_false(wall_parse_http(BYTES("tomorrow"), &at));
    assert_false(wall_parse_http(BYTES("Sun, 31 Feb 1994 08:49:37 GMT"), &at));
}

static void durations_and_sizes_go_both_ways(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"200ms", 200}, {"10s", 10000}, {"5m", 300000}, {"24h", 86400000}, {"30d", 2592000000}};
    char memory[32];
    struct buf buf;
    int64_t ms;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(duration_parse(bytes_of(cases[i].text), &ms));
        assert_int_equal(ms, cases[i].ms);
        buf_init_fixed(&buf, memory, sizeof memory);
        duration_put(&buf, ms);
        assert_bytes(buf_view(&buf), cases[i].text);
    }
    assert_false(duration_parse(BYTES("10"), &ms));
    assert_false(duration_parse(BYTES("-1s"), &ms));
    assert_false(duration_parse(BYTES("1.5s"), &ms));
    assert_false(duration_parse(BYTES("99999999999999999d"), &ms));
    uint64_t size;
    assert_true(size_parse(BYTES("64KiB"), &size) && size == 65536);
    assert_true(size_parse(BYTES("512"), &size) && size == 512);
    assert_false(size_parse(BYTES("1MB"), &size));
    buf_init_fixed(&buf, memory, sizeof memory);
    size_put(&buf, 4u << 20);
    assert_bytes(buf_view(&buf), "4MiB");
}

static void a_duration_is_said_in_two_units_at_most(void **state) {
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {{0, "0 s"},
                 {200, "200 ms"},
                 {59999, "59 s"},
                 {485000, "8 min 5 s"},
                 {3600000, "1 h"},
                 {3659000, "1 h"},
                 {3660000, "1 h 1 min"},
                 {86400000, "24 h"},
                 {601200000, "6 d 23 h"},
                 {2592000000, "30 d"}};
    char memory[64];
    struct buf buf;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_init_fixed(&buf, memory, sizeof memory);
        duration_say(&buf, cases[i].ms);
        assert_bytes(buf_view(&buf), cases[i].text);
    }
}

static void a_wait_doubles_up_to_its_last(void **state) {
    (void)state;
    assert_int_equal(duration_doubled(100, 5000), 200);
    assert_int_equal(duration_doubled(2500, 5000), 5000);
    assert_int_equal(duration_doubled(2501, 5000), 5000);
    assert_int_equal(duration_doubled(5000, 5000), 5000);
    assert_int_equal(duration_doubled(1, 3), 2);
    assert_int_equal(duration_doubled(2, 3), 3);
    assert_int_equal(duration_doubled(INT64_MAX / 2 + 1, INT64_MAX), INT64_MAX);
}

static void uuids_are_version_7_and_ordered_by_time(void **state) {
    (void)state;
    struct rng rng;
    char a[UUID_TEXT_SIZE], b[UUID_TEXT_SIZE];
    rng_seed(&rng, 1);
    uuid_v7((struct wall){0x0190aabbccdd}, &rng, a);
    uuid_v7((struct wall){0x0190aabbccde}, &rng, b);
    assert_int_equal(strlen(a), 36);
    assert_memory_equal(a, "0190aabb-ccdd-7", 15);
    assert_non_null(strchr("89ab", a[19]));
    assert_true(strcmp(a, b) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_spelled_as_the_calendar_has_them),
        cmocka_unit_test(wall_times_are_written_and_read),
        cmocka_unit_test(a_time_without_a_zone_may_be_utc),
        cmocka_unit_test(the_three_http_dates_are_one_moment),
        cmocka_unit_test(durations_and_sizes_go_both_ways),
        cmocka_unit_test(a_duration_is_said_in_two_units_at_most),
        cmocka_unit_test(a_wait_doubles_up_to_its_last),
        cmocka_unit_test(uuids_are_version_7_and_ordered_by_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
