/* What a start knows of leaps of the wall clock before it. */
#include "store/clock_record.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tempdir.h"
#include "base/log.h"
#include "test.h"

#define BOOT  "0a1b2c3d-0000-4000-8000-00000000000a"
#define OTHER "0a1b2c3d-0000-4000-8000-00000000000b"

enum { DAY_MS = 24 * 3600 * 1000 };

static const int64_t start_ms = 1700000000000;

static void a_record_is_read_whole_or_not_at_all(void **state) {
    (void)state;
    struct clock_record record;
    assert_true(clock_record_parse(BYTES(BOOT " 5000 1700000000000\n"), &record));
    assert_string_equal(record.boot, BOOT);
    assert_int_equal(record.since_boot_ms, 5000);
    assert_int_equal(record.wall_ms, start_ms);
    static const char *const others[] = {
        "",
        BOOT,
        BOOT " ",
        BOOT " 5000",
        BOOT " 5000 17",
        BOOT " 5000 17\nmore",
        BOOT "  17\n",
        BOOT " -5 17\n",
        BOOT " 5000 99999999999999999999\n",
        BOOT " 5000 9007199254740993\n",
        "0A1B2C3D-0000-4000-8000-00000000000A 5000 17\n",
        "short 5000 17\n",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (clock_record_parse(bytes_of(others[i]), &record))
            fail_msg("\"%s\" is no record", others[i]);
    }
}

static void what_the_clock_shows_beyond_the_time_that_passed_is_a_leap(void **state) {
    (void)state;
    static const struct {
        const char *boot;
        int64_t since_boot_ms, wall_ms, ahead_ms;
    } cases[] = {
        {BOOT, 6000, start_ms + 1000, 0},
        {BOOT, 6000, start_ms + 1000 + 2 * DAY_MS, 2 * DAY_MS},
        {BOOT, 5000 + 2 * DAY_MS, start_ms + 2 * DAY_MS, 0}, /* two days passed */
        {BOOT, 6000, start_ms - DAY_MS, 0},                  /* it was set back */
        {OTHER, 6000, start_ms + 2 * DAY_MS, 0},             /* it cannot be told */
        {BOOT, 4000, start_ms + 2 * DAY_MS, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clock_record last = {BOOT, 5000, start_ms};
        struct clock_record now = {.since_boot_ms = cases[i].since_boot_ms,
                                   .wall_ms = cases[i].wall_ms};
        memcpy(now.boot, cases[i].boot, sizeof now.boot);
        assert_int_equal(clock_record_ahead(&last, &now), cases[i].ahead_ms);
        last.wall_ms = 1000; /* in 1970: a clock that nobody had set yet */
        assert_int_equal(clock_record_ahead(&last, &now), 0);
    }
}

static int64_t wall_ms;

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{wall_ms}, {1000}};
}

/* Three lives of a process on one machine, in a moment; the third after the clock was set right. */
static void a_leap_is_known_to_every_later_start(void **state) {
    (void)state;
    char dir[64], store[96], folder[112], record[128];
    assert_int_equal(tempdir_make("/tmp", "impound-clock", dir, sizeof dir, NULL), STATUS_OK);
    snprintf(store, sizeof store, "%s/impound.db", dir);
    snprintf(folder, sizeof folder, "%s.d", store);
    snprintf(record, sizeof record, "%s/clock", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    struct clock clock = {.now = read_clock};
    static const struct {
        int64_t wall_ms, ahead_ms;
    } lives[] = {{start_ms, 0},
                 {start_ms + 2 * DAY_MS, 2 * DAY_MS},
                 {start_ms + 2 * DAY_MS, 2 * DAY_MS},
                 {start_ms - DAY_MS, 0}};
    enum { MOMENT_MS = 3600 * 1000 }; /* of the machine, for all of this test */
    for (size_t i = 0; i < sizeof lives / sizeof lives[0]; i++) {
        wall_ms = lives[i].wall_ms;
        clock_record_load(store, &clock);
        int64_t late_ms = lives[i].ahead_ms - clock.ahead_ms; /* time passed since the first life */
        assert_true(late_ms >= 0 && late_ms < MOMENT_MS);
        assert_int_equal(clock_began(&clock).wall.ms, wall_ms - clock.ahead_ms);
        clock_record_save(store, &clock);
    }
    assert_int_equal(unlink(record), 0); /* as people do whose clock was wrong before */
    wall_ms = start_ms + 9ll * DAY_MS;
    clock_record_load(store, &clock);
    assert_int_equal(clock.ahead_ms, 0);
    tempdir_remove(dir);
}

int main(void) {
    log_set_level(LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_read_whole_or_not_at_all),
        cmocka_unit_test(what_the_clock_shows_beyond_the_time_that_passed_is_a_leap),
        cmocka_unit_test(a_leap_is_known_to_every_later_start),
    };
    return cmocka_run_group_tests_name("clock_record", tests, NULL, NULL);
}
