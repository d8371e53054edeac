/* A file of an earlier version is brought up to date when it is opened. argv[1] is one, as SQL. */
#include <fcntl.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "store/disk_posix.h"
#include "store/sqlite/sqlite_store.h"
#include "test.h"

static const char *old_schema;

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000010000}, {1000}};
}

static void write_old_file(const char *path) {
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

static void check(struct store *store) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct store_group *groups = NULL;
    struct store_held *held = NULL;
    struct err err;
    assert_int_equal(store->vtable->get(store, BYTES("orders"), BYTES("L-a"), &held, &err),
                     STATUS_OK);
    assert_bytes(held->body, "1");
    store_held_free(held);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), 1);
    assert_int_equal(store->vtable->groups(store, BYTES_NONE, &arena, &groups), 1);
    assert_int_equal(groups[0].fingerprint, 0xab);
    assert_int_equal(groups[0].count, 1);
    assert_int_equal(groups[0].total, 2);
    assert_int_equal(groups[0].last_seen.ms, 1700000002000);
    uint32_t queue = store->vtable->queue_number(store, BYTES("orders"));
    struct clock clock = {read_clock};
    assert_int_equal(store->vtable->take(store, queue, TAKE_READY, clock_now(&clock), 0, &held, 1),
                     1);
    assert_bytes(held->envelope.id, "c");
    store_held_free(held);
    arena_free(&arena);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw) {
    (void)info;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void a_file_of_the_first_version_is_opened_with_all_it_holds(void **state) {
    (void)state;
    char dir[] = "/tmp/impound-schema-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/impound.db", dir);
    write_old_file(path);
    struct clock clock = {read_clock};
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
    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv) {
    assert_int_equal(argc, 2);
    old_schema = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_the_first_version_is_opened_with_all_it_holds)};
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
