/* A file of an earlier version is brought up to date when it is opened. The arguments are such
 * files, as SQL; all hold the same. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "base/tempdir.h"
#include "store/disk_posix.h"
#include "store/embedded/sqlite/schema.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

static char **old_files;
static int old_file_count;

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000010000}, {1000}};
}

static void write_old_file(const char *old_schema, const char *path) {
    struct buf sql;
    buf_init_heap(&sql, 1 << 20);
    int file = open(old_schema, O_RDONLY);
    assert_true(file >= 0);
    char chunk[4096];
    for (ssize_t got; (got = read(file, chunk, sizeof chunk)) > 0;)
        buf_put(&sql, chunk, (size_t)got);
    close(file);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, buf_cstr(&sql), NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    buf_free(&sql);
}

/* Every filter finds what was there before it had an index. */
static void check_lists(struct store *store, struct arena *arena) {
    const struct letters_query queries[] = {
        {.letters = true, .queue = BYTES("orders")},
        {.letters = true, .category = BYTES("bug")},
        {.letters = true, .reason_prefix = BYTES("r")},
        {.letters = true, .has_cause = true, .cause = CAUSE_TERMINAL},
        {.letters = true, .has_fingerprint = true, .fingerprint = 0xab},
        {.letters = true, .min_attempts = 1},
        {.letters = true, .escalated = LETTERS_NO},
    };
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        struct letters_query query = queries[i];
        struct letters_page page;
        struct err err;
        query.limit = 10;
        assert_int_equal(letters_list(store->letters, &query, arena, &page, &err), STATUS_OK);
        assert_int_equal(page.count, 2);
        query.states = 1u << STATE_PENDING_REVIEW;
        assert_int_equal(letters_list(store->letters, &query, arena, &page, &err), STATUS_OK);
        assert_int_equal(page.count, 1);
    }
}

static void check(struct store *store) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct letters_group *groups = NULL;
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(store->letters, BYTES("orders"), BYTES("L-a"), &held, &err),
                     STATUS_OK);
    assert_bytes(held->body, "1");
    message_free(held);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), 1);
    struct letters_dlq dlq;
    assert_int_equal(letters_dlq(store->letters, BYTES("orders.dlq"), (struct wall){1700000010000},
                                 &arena, &dlq, NULL),
                     STATUS_OK);
    assert_int_equal(dlq.by_state[STATE_PENDING_REVIEW], 1);
    assert_int_equal(dlq.by_state[STATE_REPLAYING], 0);
    assert_int_equal(dlq.by_state[STATE_RESOLVED], 1);
    assert_int_equal(dlq.by_state[STATE_DISCARDED], 0);
    size_t count;
    assert_int_equal(letters_groups(store->letters, BYTES_NONE, &arena, &groups, &count, NULL),
                     STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(groups[0].fingerprint, 0xab);
    assert_int_equal(groups[0].count, 1);
    assert_int_equal(groups[0].total, 2);
    assert_int_equal(groups[0].last_seen.ms, 1700000002000);
    check_lists(store, &arena);
    uint32_t queue = store->vtable->queue_number(store, BYTES("orders"));
    struct clock clock = {.now = read_clock};
    assert_int_equal(store->vtable->take(store, queue, TAKE_READY, clock_now(&clock), &held, 1), 1);
    assert_bytes(held->envelope.id, "c");
    message_free(held);
    arena_free(&arena);
}

static void open_old_file(const char *old_schema) {
    char dir[64], path[96];
    assert_int_equal(tempdir_make("/tmp", "impound-schema", dir, sizeof dir, NULL), STATUS_OK);
    snprintf(path, sizeof path, "%s/impound.db", dir);
    write_old_file(old_schema, path);
    struct clock clock = {.now = read_clock};
    struct sqlite_store_options options = {.path = path, .disk = &disk_posix, .clock = &clock};
    struct buf report;
    struct err err = {0};
    buf_init_heap(&report, 1 << 16);
    for (int round = 0; round < 2; round++) {
        struct store *store = NULL;
        if (sqlite_store_open(&options, &store, &err) != STATUS_OK)
            fail_msg("%s", err.text);
        check(store);
        store->vtable->close(store);
        if (sqlite_store_doctor(&options, false, &report, &err) != STATUS_OK)
            fail_msg("%s", buf_cstr(&report));
    }
    buf_free(&report);
    tempdir_remove(dir);
}

static void a_file_of_an_earlier_version_is_opened_with_all_it_holds(void **state) {
    (void)state;
    for (int i = 0; i < old_file_count; i++)
        open_old_file(old_files[i]);
}

/* A condition of an index that SQLite answers by a table of its own costs more than the row. */
static void writing_a_row_makes_no_table_for_it(void **state) {
    (void)state;
    static const char *const writing[] = {
        "EXPLAIN INSERT INTO messages (seq, id, state) VALUES (?, ?, ?)",
        "EXPLAIN UPDATE messages SET state = ? WHERE seq = ?",
        "EXPLAIN DELETE FROM messages WHERE seq = ?",
    };
    struct err err;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(schema_prepare(db, &err), STATUS_OK);
    for (size_t i = 0; i < sizeof writing / sizeof writing[0]; i++) {
        sqlite3_stmt *stmt = NULL;
        assert_int_equal(sqlite3_prepare_v2(db, writing[i], -1, &stmt, NULL), SQLITE_OK);
        while (sqlite3_step(stmt) == SQLITE_ROW)
            assert_string_not_equal((const char *)sqlite3_column_text(stmt, 1), "OpenEphemeral");
        sqlite3_finalize(stmt);
    }
    sqlite3_close(db);
}

int main(int argc, char **argv) {
    assert_true(argc > 1);
    old_files = argv + 1;
    old_file_count = argc - 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_an_earlier_version_is_opened_with_all_it_holds),
        cmocka_unit_test(writing_a_row_makes_no_table_for_it),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
