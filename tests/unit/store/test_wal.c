/* SQLite's log goes into the file when it is due, by another connection than the fold's. */
#include "store/embedded/sqlite/fold/wal.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/tempdir.h"
#include "test.h"

enum { PAGES = 8, LONG = 4 * PAGES, PATH = 128, LOG_PAGE = 8192 + 24 };

static char dir[64], path[PATH];
static struct database fold_db;
static struct wal *wal;

static int start(void **state) {
    (void)state;
    struct err err;
    assert_int_equal(tempdir_make("/tmp", "impound-wal", dir, sizeof dir, &err), STATUS_OK);
    snprintf(path, sizeof path, "%s/impound.db", dir);
    struct database_options options = {.path = path};
    assert_int_equal(database_open(&options, &fold_db, &err), STATUS_OK);
    assert_int_equal(wal_open(&options, &fold_db, PAGES, &wal, &err), STATUS_OK);
    return 0;
}

static int end(void **state) {
    (void)state;
    database_close(&fold_db);
    wal_close(wal);
    tempdir_remove(dir);
    return 0;
}

/* A commit that changes a page for each of them, and a few more. */
static void commit(int pages) {
    char sql[256];
    struct err err;
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             " INSERT INTO bodies SELECT (SELECT ifnull(max(seq), 0) FROM bodies) + i,"
             " zeroblob(7000) FROM n",
             pages);
    assert_int_equal(database_run(fold_db.db, sql, &err), STATUS_OK);
}

/* As the file has it, whatever stands in the log. */
static int64_t rows_in_file(void) {
    char uri[PATH + 32];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    snprintf(uri, sizeof uri, "file:%s?immutable=1", path);
    assert_int_equal(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
                     SQLITE_OK);
    int64_t rows = 0; /* it may not even have the table */
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM bodies", -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        rows = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return rows;
}

static int64_t pages_in_log(void) {
    char log[PATH + 8];
    struct stat info;
    snprintf(log, sizeof log, "%s-wal", path);
    assert_int_equal(stat(log, &info), 0);
    return info.st_size / LOG_PAGE;
}

static void few_pages_stay_in_the_log(void **state) {
    (void)state;
    commit(2); /* and those that the schema was made of */
    wal_look(wal);
    wal_checkpoint(wal);
    int64_t rows = rows_in_file();
    commit(1);
    assert_false(wal_look(wal));
    wal_checkpoint(wal);
    assert_int_equal(rows_in_file(), rows);
}

static void many_go_into_the_file_once_they_are_due(void **state) {
    (void)state;
    commit(PAGES);
    assert_int_equal(rows_in_file(), 0);
    wal_checkpoint(wal); /* nobody has looked */
    assert_int_equal(rows_in_file(), 0);
    wal_look(wal);
    wal_checkpoint(wal);
    assert_int_equal(rows_in_file(), PAGES);
}

/* The connection of the fold makes none by itself, however many there are. */
static void a_long_log_is_told_of_and_begins_anew(void **state) {
    (void)state;
    commit(LONG);
    assert_int_equal(rows_in_file(), 0);
    assert_true(wal_look(wal));
    wal_checkpoint(wal);
    assert_int_equal(rows_in_file(), LONG);
    int64_t pages = pages_in_log();
    commit(PAGES);
    assert_false(wal_look(wal));
    wal_checkpoint(wal);
    assert_int_equal(rows_in_file(), LONG + PAGES);
    assert_int_equal(pages_in_log(), pages);
}

/* Somebody reads the file as it was: what came later waits in the log, and nothing fails. */
static void a_reader_delays_it(void **state) {
    (void)state;
    sqlite3 *reader = NULL;
    struct err err;
    commit(1);
    assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
    assert_int_equal(database_run(reader, "BEGIN; SELECT count(*) FROM bodies", &err), STATUS_OK);
    commit(PAGES);
    wal_look(wal);
    wal_checkpoint(wal);
    assert_in_range(rows_in_file(), 0, 1);
    sqlite3_close(reader);
    commit(PAGES);
    wal_look(wal);
    wal_checkpoint(wal);
    assert_int_equal(rows_in_file(), 1 + 2 * PAGES);
}

static void a_log_in_doubt_begins_anew(void **state) {
    (void)state;
    struct err err;
    commit(1);
    int64_t pages = pages_in_log();
    assert_int_equal(wal_trust(wal, &err), STATUS_OK); /* nobody doubts */
    assert_int_equal(rows_in_file(), 0);
    wal_doubt(wal);
    assert_int_equal(wal_trust(wal, &err), STATUS_OK);
    assert_int_equal(rows_in_file(), 1);
    commit(1);
    assert_int_equal(pages_in_log(), pages);
    assert_int_equal(wal_trust(wal, &err), STATUS_OK); /* and nobody any more */
    assert_int_equal(rows_in_file(), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(few_pages_stay_in_the_log, start, end),
        cmocka_unit_test_setup_teardown(many_go_into_the_file_once_they_are_due, start, end),
        cmocka_unit_test_setup_teardown(a_long_log_is_told_of_and_begins_anew, start, end),
        cmocka_unit_test_setup_teardown(a_reader_delays_it, start, end),
        cmocka_unit_test_setup_teardown(a_log_in_doubt_begins_anew, start, end),
    };
    return cmocka_run_group_tests_name("wal", tests, NULL, NULL);
}
