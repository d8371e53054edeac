/* Bodies that go into files of their own: safe before the commit that names them, whatever fails.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "store/disk_posix.h"
#include "store/sqlite/large.h"
#include "store/sqlite/sqlite_store.h"
#include "test.h"

enum { ABOVE = 1000, LARGE = 5000, CALLS_MAX = 400 };

static const char letter_id[] = "01900000-0000-7000-8000-000000000001";
static char dir[64], path[96], file_path[192];
static char body[LARGE + 1];
static struct clock test_clock;
static struct sqlite_store_options options;

/* ---- a disk that is gone after so many changes ---- */

static int calls_left; /* -1: it lasts */
static struct disk_vtable failing_vtable;
static struct disk failing = {&failing_vtable};

static bool fails(void) {
    if (calls_left < 0)
        return false;
    return calls_left == 0 || --calls_left == 0;
}

static int make_dir(struct disk *disk, const char *at) {
    (void)disk;
    return fails() ? EIO : disk_posix.vtable->make_dir(&disk_posix, at);
}
static int write_some(struct disk *disk, struct disk_file *file, uint64_t at, const void *from,
                      size_t len) {
    (void)disk;
    return fails() ? EIO : disk_posix.vtable->write(&disk_posix, file, at, from, len);
}
static int sync_file(struct disk *disk, struct disk_file *file) {
    (void)disk;
    return fails() ? EIO : disk_posix.vtable->sync(&disk_posix, file);
}
static int rename_file(struct disk *disk, const char *from, const char *to) {
    (void)disk;
    return fails() ? EIO : disk_posix.vtable->rename(&disk_posix, from, to);
}
static int sync_dir(struct disk *disk, const char *at) {
    (void)disk;
    return fails() ? EIO : disk_posix.vtable->sync_dir(&disk_posix, at);
}
static int remove_file(struct disk *disk, const char *at) {
    (void)disk;
    return fails() ? EIO : disk_posix.vtable->remove(&disk_posix, at);
}

/* ---- a store ---- */

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000010000}, {1000}};
}

static int start(void **state) {
    (void)state;
    failing_vtable = *disk_posix.vtable;
    failing_vtable.make_dir = make_dir;
    failing_vtable.write = write_some;
    failing_vtable.sync = sync_file;
    failing_vtable.rename = rename_file;
    failing_vtable.sync_dir = sync_dir;
    failing_vtable.remove = remove_file;
    calls_left = -1;
    test_clock.now = read_clock;
    memset(body, 'x', LARGE);
    assert_int_equal(folder_make("/tmp", "impound-large", dir, sizeof dir, NULL), STATUS_OK);
    snprintf(path, sizeof path, "%s/impound.db", dir);
    snprintf(file_path, sizeof file_path, "%s.large/%s", path, letter_id);
    options = (struct sqlite_store_options){
        .path = path, .disk = &failing, .clock = &test_clock, .large_bytes = ABOVE};
    return 0;
}

static int end(void **state) {
    (void)state;
    folder_remove(dir);
    return 0;
}

static struct store *open_store(void) {
    struct store *store = NULL;
    struct err err = {0};
    if (sqlite_store_open(&options, &store, &err) != STATUS_OK)
        fail_msg("%s", err.text);
    return store;
}

static void note_status(struct store_commit *commit, enum status status) {
    *(enum status *)commit->arg = status;
}

static enum status submit(struct store *store, struct store_op *op) {
    enum status status = STATUS_INTERNAL;
    struct store_commit commit = {.ops = op, .count = 1, .done = note_status, .arg = &status};
    store->vtable->submit(store, &commit);
    sqlite_store_step(store);
    return status;
}

static struct envelope letter_of(struct bytes text) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    struct envelope envelope = {.id = BYTES("m"),
                                .queue = BYTES("jobs"),
                                .letter_id = bytes_of(letter_id),
                                .dlq = BYTES("jobs.dlq"),
                                .state = STATE_PENDING_REVIEW,
                                .created_at = {1},
                                .dead_at = {2},
                                .category = BYTES("bug"),
                                .reason = BYTES("r"),
                                .size = text.len,
                                .retry_after_ms = -1};
    crypto_hash_sha256(hash, (const unsigned char *)text.ptr, text.len);
    sodium_bin2hex(envelope.content_hash, sizeof envelope.content_hash, hash, sizeof hash);
    return envelope;
}

static enum status put(struct store *store, uint64_t *seq) {
    struct bytes text = {body, LARGE};
    struct envelope envelope = letter_of(text);
    struct store_op op = {.kind = STORE_PUT,
                          .queue = store->vtable->queue_number(store, BYTES("jobs")),
                          .envelope = &envelope,
                          .body = text,
                          .check_id = true};
    enum status status = submit(store, &op);
    assert_ptr_equal(op.body.ptr, text.ptr); /* the caller's op is as it was */
    *seq = op.seq;
    return status;
}

static bool is_whole(struct store *store) {
    struct store_held *held = NULL;
    struct err err;
    if (store->vtable->get(store, BYTES_NONE, bytes_of(letter_id), &held, &err) != STATUS_OK)
        return false;
    assert_int_equal(held->body.len, LARGE);
    assert_memory_equal(held->body.ptr, body, LARGE);
    store_held_free(held);
    return true;
}

static bool has_file(void) {
    return access(file_path, F_OK) == 0;
}

/* ---- tests ---- */

static void test_a_large_body_has_a_file_for_as_long_as_its_message(void **state) {
    (void)state;
    uint64_t seq;
    struct store *store = open_store();
    assert_int_equal(put(store, &seq), STATUS_OK);
    assert_true(has_file());
    assert_true(is_whole(store));
    sqlite_store_fold(store);
    assert_true(is_whole(store));
    sqlite_store_crash(store);
    store = open_store();
    assert_true(has_file() && is_whole(store));
    struct store_op forget = {.kind = STORE_FORGET,
                              .queue = store->vtable->queue_number(store, BYTES("jobs")),
                              .seq = seq};
    assert_int_equal(submit(store, &forget), STATUS_OK);
    assert_false(has_file());
    store->vtable->close(store);
}

static void test_doctor_names_a_large_body_that_is_missing(void **state) {
    (void)state;
    uint64_t seq;
    struct buf report;
    struct err err = {0};
    struct store *store = open_store();
    assert_int_equal(put(store, &seq), STATUS_OK);
    store->vtable->close(store);
    buf_init_heap(&report, 1 << 16);
    assert_int_equal(sqlite_store_doctor(&options, false, &report, &err), STATUS_OK);
    assert_int_equal(unlink(file_path), 0);
    assert_int_equal(sqlite_store_doctor(&options, false, &report, &err), STATUS_CORRUPT);
    assert_non_null(strstr(buf_cstr(&report), letter_id));
    buf_free(&report);
}

/* The disk stops at every step in turn, and the process with it. What was acknowledged is whole;
 * what was not leaves no file behind at the next start. */
static void test_a_disk_that_stops_at_any_step_loses_nothing(void **state) {
    bool done = false;
    for (int calls = 1; !done && calls < CALLS_MAX; calls++) {
        uint64_t seq;
        struct store *store = open_store();
        calls_left = calls;
        enum status status = put(store, &seq);
        done = calls_left > 0; /* it needed fewer */
        calls_left = 0;
        sqlite_store_crash(store);
        calls_left = -1;
        store = open_store();
        bool held = is_whole(store);
        assert_true(held || status != STATUS_OK);
        assert_int_equal(has_file(), held);
        store->vtable->close(store);
        end(state);
        start(state);
    }
    assert_true(done);
}

static void test_a_body_that_reads_like_a_stub_is_itself(void **state) {
    (void)state;
    char name[LARGE_NAME_SIZE], text[LARGE_STUB_LEN + 1];
    snprintf(text, sizeof text, "impound-large %s %020d", letter_id, LARGE);
    assert_true(large_is_stub(bytes_of(text), LARGE, name));
    assert_string_equal(name, letter_id);
    assert_false(large_is_stub(bytes_of(text), LARGE_STUB_LEN, name));
    assert_false(large_is_stub(bytes_of(text), LARGE + 1, name));
    text[20] = '/';
    assert_false(large_is_stub(bytes_of(text), LARGE, name));
}

int main(void) {
    if (sodium_init() < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_large_body_has_a_file_for_as_long_as_its_message,
                                        start, end),
        cmocka_unit_test_setup_teardown(test_doctor_names_a_large_body_that_is_missing, start, end),
        cmocka_unit_test_setup_teardown(test_a_disk_that_stops_at_any_step_loses_nothing, start,
                                        end),
        cmocka_unit_test_setup_teardown(test_a_body_that_reads_like_a_stub_is_itself, start, end),
    };
    return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}
