/* SQLite keeps its promises on the simulated disk; the disk would show it if it did not sync. */
#include "test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#include "base/rng.h"
#include "sim_vfs.h"

enum { SEEDS = 300, CRASHES = 4, STATEMENTS = 40 };

struct base {
    struct sim_disk *sim;
    struct sim_vfs *vfs;
    struct rng rng;
    sqlite3 *db;
    int64_t committed; /* rows that must be there */
    int64_t tried;     /* rows that may be there */
};

static int run(struct base *base, const char *sql) {
    return sqlite3_exec(base->db, sql, NULL, NULL, NULL);
}

static int keep_text(void *arg, int columns, char **values, char **names) {
    (void)columns;
    (void)names;
    snprintf(arg, 64, "%s", values[0] ? values[0] : "");
    return 0;
}

static void expect_text(struct base *base, const char *sql, const char *text) {
    char got[64] = "";
    assert_int_equal(sqlite3_exec(base->db, sql, keep_text, got, NULL), SQLITE_OK);
    assert_string_equal(got, text);
}

static bool open_base(struct base *base) {
    return sqlite3_open_v2("/base.db", &base->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                           SIM_VFS_NAME) == SQLITE_OK &&
           run(base, "PRAGMA locking_mode=EXCLUSIVE") == SQLITE_OK &&
           run(base, "PRAGMA journal_mode=WAL") == SQLITE_OK &&
           run(base, "PRAGMA synchronous=FULL") == SQLITE_OK &&
           run(base, "PRAGMA wal_autocheckpoint=8") == SQLITE_OK &&
           run(base, "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, pad)") == SQLITE_OK;
}

static void close_base(struct base *base) {
    sqlite3_close(base->db);
    base->db = NULL;
}

static void start(struct base *base, uint64_t seed) {
    *base = (struct base){.sim = sim_disk_new(seed)};
    base->vfs = sim_vfs_new(base->sim, seed);
    rng_seed(&base->rng, seed);
}

static void stop(struct base *base) {
    close_base(base);
    sim_vfs_free(base->vfs);
    sim_disk_free(base->sim);
}

static void live_until_death(struct base *base) {
    for (int i = 0; i < STATEMENTS && !sim_disk_is_dead(base->sim); i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "INSERT INTO t VALUES (%lld, randomblob(700))",
                 (long long)base->tried++);
        if (run(base, sql) != SQLITE_OK)
            return;
        base->committed = base->tried;
    }
}

/* -1: the table cannot be read. */
static int64_t count_rows(struct base *base) {
    char got[64] = "";
    int code = sqlite3_exec(base->db, "SELECT count(*) FROM t", keep_text, got, NULL);
    return code == SQLITE_OK ? atoll(got) : -1;
}

static void commits_survive_crashes_and_nothing_is_damaged(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct base base;
        start(&base, seed);
        assert_true(open_base(&base));
        for (int crash = 0; crash < CRASHES; crash++) {
            sim_disk_crash_at(base.sim, 1 + rng_below(&base.rng, 80));
            live_until_death(&base);
            close_base(&base);
            sim_disk_crash(base.sim);
            assert_true(open_base(&base));
            expect_text(&base, "PRAGMA integrity_check", "ok");
            int64_t rows = count_rows(&base);
            assert_true(rows == base.committed || rows == base.tried);
            base.committed = base.tried = rows;
        }
        stop(&base);
    }
}

static void without_syncs_some_commits_are_lost(void **state) {
    (void)state;
    int lost = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct base base;
        start(&base, seed);
        assert_true(open_base(&base));
        assert_int_equal(run(&base, "PRAGMA synchronous=OFF"), SQLITE_OK);
        live_until_death(&base);
        /* Before the connection is closed, which would write what is left. */
        sim_disk_crash_at(base.sim, 1);
        close_base(&base);
        sim_disk_crash(base.sim);
        lost += !open_base(&base) || count_rows(&base) < base.committed;
        stop(&base);
    }
    assert_true(lost > 0);
}

static void a_full_disk_and_a_failed_call_are_told(void **state) {
    (void)state;
    struct base base;
    start(&base, 1);
    assert_true(open_base(&base));
    assert_int_equal(run(&base, "INSERT INTO t VALUES (1, 'a')"), SQLITE_OK);
    sim_disk_fail_after(base.sim, 0, 1, EIO);
    assert_int_equal(run(&base, "INSERT INTO t VALUES (2, 'b')"), SQLITE_IOERR);
    sim_disk_set_capacity(base.sim, 1);
    assert_int_equal(run(&base, "INSERT INTO t VALUES (3, zeroblob(100000))"), SQLITE_FULL);
    sim_disk_set_capacity(base.sim, 0);
    assert_int_equal(run(&base, "INSERT INTO t VALUES (4, 'd')"), SQLITE_OK);
    expect_text(&base, "SELECT group_concat(n) FROM t", "1,4");
    stop(&base);
}

static void time_is_what_it_was_set_to(void **state) {
    (void)state;
    struct base base;
    start(&base, 1);
    assert_true(open_base(&base));
    sim_vfs_set_time(base.vfs, INT64_C(1700000000123));
    expect_text(&base, "SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')", "2023-11-14T22:13:20.123");
    stop(&base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits_survive_crashes_and_nothing_is_damaged),
        cmocka_unit_test(without_syncs_some_commits_are_lost),
        cmocka_unit_test(a_full_disk_and_a_failed_call_are_told),
        cmocka_unit_test(time_is_what_it_was_set_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
