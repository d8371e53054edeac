/* Bodies that go into files of their own: safe before the commit that names them, whatever fails.
 */
#include <dirent.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/tempdir.h"
#include "store/disk_posix.h"
#include "store/embedded/pages/large.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

enum { ABOVE = 1000, LARGE = 5000, CALLS_MAX = 400 };

static const char letter_id[] = "01900000-0000-7000-8000-000000000001";
static char dir[64], path[96], file_path[192];
static char body[LARGE + 1];
static char other_body[LARGE + 1]; /* of the same size */
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
static int link_file(struct disk *disk, const char *from, const char *to) {
    (void)disk;
    return fails() ? EIO : disk_posix.vtable->link(&disk_posix, from, to);
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
    failing_vtable.link = link_file;
    failing_vtable.remove = remove_file;
    calls_left = -1;
    test_clock.now = read_clock;
    memset(body, 'x', LARGE);
    memset(other_body, 'y', LARGE);
    assert_int_equal(tempdir_make("/tmp", "impound-large", dir, sizeof dir, NULL), STATUS_OK);
    snprintf(path, sizeof path, "%s/impound.db", dir);
    snprintf(file_path, sizeof file_path, "%s.large/%s", path, letter_id);
    options = (struct sqlite_store_options){
        .path = path, .disk = &failing, .clock = &test_clock, .large_bytes = ABOVE};
    return 0;
}

static int end(void **state) {
    (void)state;
    tempdir_remove(dir);
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

static enum status submit_all(struct store *store, struct store_op *ops, size_t count) {
    enum status status = STATUS_INTERNAL;
    struct store_commit commit = {.ops = ops, .count = count, .done = note_status, .arg = &status};
    store->vtable->submit(store, &commit);
    sqlite_store_step(store);
    return status;
}

static enum status submit(struct store *store, struct store_op *op) {
    return submit_all(store, op, 1);
}

static struct envelope message_of(struct bytes text) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    struct envelope envelope = {.id = BYTES("m"),
                                .queue = BYTES("jobs"),
                                .state = STATE_PENDING_RETRY,
                                .created_at = {1},
                                .size = text.len,
                                .retry_after_ms = -1};
    crypto_hash_sha256(hash, (const unsigned char *)text.ptr, text.len);
    sodium_bin2hex(envelope.content_hash, sizeof envelope.content_hash, hash, sizeof hash);
    return envelope;
}

static struct envelope letter_of(struct bytes text) {
    struct envelope envelope = message_of(text);
    envelope.letter_id = bytes_of(letter_id);
    envelope.dlq = BYTES("jobs.dlq");
    envelope.state = STATE_PENDING_REVIEW;
    envelope.dead_at = (struct wall){2};
    envelope.category = BYTES("bug");
    envelope.reason = BYTES("r");
    return envelope;
}

static enum status put_in(struct store *store, const char *queue, const struct envelope *envelope,
                          uint64_t *seq) {
    struct bytes text = {body, LARGE};
    struct store_op op = {.kind = STORE_PUT,
                          .queue = store->vtable->queue_number(store, bytes_of(queue)),
                          .envelope = envelope,
                          .body = text};
    enum status status = submit(store, &op);
    assert_ptr_equal(op.body.ptr, text.ptr); /* the caller's op is as it was */
    *seq = op.seq;
    return status;
}

static enum status put(struct store *store, uint64_t *seq) {
    struct envelope envelope = letter_of((struct bytes){body, LARGE});
    return put_in(store, "jobs", &envelope, seq);
}

/* With a body: an edit. */
static enum status update(struct store *store, uint64_t seq, const struct envelope *envelope,
                          struct bytes text) {
    struct store_op op = {.kind = STORE_UPDATE,
                          .queue = store->vtable->queue_number(store, BYTES("jobs")),
                          .seq = seq,
                          .envelope = envelope,
                          .body = text};
    return submit(store, &op);
}

static enum status edit(struct store *store, uint64_t seq, const char *text, size_t len) {
    struct envelope envelope = letter_of((struct bytes){text, len});
    envelope.state = STATE_REPLAYING;
    return update(store, seq, &envelope, (struct bytes){text, len});
}

static enum status forget(struct store *store, uint64_t seq) {
    struct store_op op = {.kind = STORE_FORGET,
                          .queue = store->vtable->queue_number(store, BYTES("jobs")),
                          .seq = seq};
    return submit(store, &op);
}

/* The letter's body; 0: it cannot be read, else its first byte. */
static char body_in(struct store *store, struct bytes id) {
    struct message *held = NULL;
    struct err err;
    if (letters_get(store->letters, BYTES_NONE, id, &held, &err) != STATUS_OK ||
        held->envelope.body_damaged) {
        message_free(held);
        return 0;
    }
    char first = held->body.ptr[0];
    assert_int_equal(held->body.len, held->envelope.size);
    struct envelope expected = message_of(held->body);
    assert_string_equal(held->envelope.content_hash, expected.content_hash);
    message_free(held);
    return first;
}

static bool is_whole(struct store *store) {
    return body_in(store, bytes_of(letter_id)) == 'x';
}

static size_t count_files(void) {
    char folder[128];
    size_t count = 0;
    snprintf(folder, sizeof folder, "%s.large", path);
    DIR *listing = opendir(folder);
    if (!listing)
        return 0;
    for (struct dirent *entry; (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
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
    assert_int_equal(forget(store, seq), STATUS_OK);
    assert_false(has_file());
    store->vtable->close(store);
}

static void test_the_file_of_a_message_gets_the_id_of_its_letter(void **state) {
    (void)state;
    uint64_t seq;
    struct store *store = open_store();
    struct envelope message = message_of((struct bytes){body, LARGE});
    assert_int_equal(put_in(store, "jobs", &message, &seq), STATUS_OK);
    assert_int_equal(count_files(), 1);
    assert_false(has_file());
    sqlite_store_fold(store);
    struct envelope letter = letter_of((struct bytes){body, LARGE});
    assert_int_equal(update(store, seq, &letter, BYTES_NONE), STATUS_OK);
    assert_true(has_file() && is_whole(store));
    assert_int_equal(count_files(), 1);
    sqlite_store_crash(store);
    store = open_store();
    assert_true(has_file() && is_whole(store));
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(store->letters, BYTES_NONE, bytes_of(letter_id), &held, &err),
                     STATUS_OK);
    char named[96];
    snprintf(named, sizeof named, "impound.db.large/%s", letter_id);
    assert_true(bytes_is(held->envelope.body_file, named));
    message_free(held);
    store->vtable->close(store);
}

/* As a replay to another queue does. */
static void test_a_letter_that_moves_takes_its_file_along(void **state) {
    (void)state;
    uint64_t seq;
    struct store *store = open_store();
    assert_int_equal(put(store, &seq), STATUS_OK);
    struct envelope letter = letter_of((struct bytes){body, LARGE});
    letter.queue = BYTES("others");
    struct store_op ops[] = {
        {.kind = STORE_PUT,
         .queue = store->vtable->queue_number(store, BYTES("others")),
         .envelope = &letter,
         .body = {body, LARGE},
         .check_id = true},
        {.kind = STORE_FORGET,
         .queue = store->vtable->queue_number(store, BYTES("jobs")),
         .seq = seq},
    };
    assert_int_equal(submit_all(store, ops, 2), STATUS_OK);
    assert_true(has_file() && is_whole(store));
    sqlite_store_crash(store);
    store = open_store();
    assert_true(has_file() && is_whole(store));
    struct store_op gone = {.kind = STORE_FORGET,
                            .queue = store->vtable->queue_number(store, BYTES("others")),
                            .seq = ops[0].seq};
    assert_int_equal(submit(store, &gone), STATUS_OK);
    assert_int_equal(count_files(), 0);
    store->vtable->close(store);
}

/* A letter that is resolved keeps its body while the same message comes, fails and dies again. */
static void test_two_messages_with_one_id_and_body_have_two_files(void **state) {
    (void)state;
    uint64_t first, second;
    struct store *store = open_store();
    struct envelope message = message_of((struct bytes){body, LARGE});
    struct envelope letter = letter_of((struct bytes){body, LARGE});
    assert_int_equal(put_in(store, "jobs", &message, &first), STATUS_OK);
    assert_int_equal(update(store, first, &letter, BYTES_NONE), STATUS_OK);
    struct store_op resolve = {.kind = STORE_MARK,
                               .queue = store->vtable->queue_number(store, BYTES("jobs")),
                               .seq = first,
                               .mark = {.state = STATE_RESOLVED, .at = {3}}};
    assert_int_equal(submit(store, &resolve), STATUS_OK);
    assert_int_equal(put_in(store, "jobs", &message, &second), STATUS_OK);
    assert_int_not_equal(first, second);
    assert_int_equal(count_files(), 2);
    assert_int_equal(forget(store, first), STATUS_OK);
    assert_int_equal(body_in(store, BYTES("m")), 'x');
    store->vtable->close(store);
}

static void test_an_edit_drops_the_old_file_once_it_is_durable(void **state) {
    (void)state;
    uint64_t seq;
    struct store *store = open_store();
    assert_int_equal(put(store, &seq), STATUS_OK);
    assert_int_equal(edit(store, seq, other_body, LARGE), STATUS_OK);
    assert_int_equal(body_in(store, bytes_of(letter_id)), 'y');
    assert_int_equal(count_files(), 1);
    struct envelope letter = letter_of((struct bytes){other_body, LARGE});
    assert_int_equal(update(store, seq, &letter, BYTES_NONE), STATUS_OK); /* it died again */
    assert_true(has_file());
    assert_int_equal(count_files(), 1);
    assert_int_equal(edit(store, seq, "zzz", 3), STATUS_OK);
    assert_int_equal(body_in(store, bytes_of(letter_id)), 'z');
    assert_int_equal(count_files(), 0);
    store->vtable->close(store);
}

/* max_body is raised while the message is in the journal alone. */
static void test_a_bound_that_is_raised_keeps_the_files(void **state) {
    (void)state;
    uint64_t seq;
    struct store *store = open_store();
    assert_int_equal(put(store, &seq), STATUS_OK);
    sqlite_store_crash(store);
    options.large_bytes = 2 * (uint64_t)LARGE;
    store = open_store();
    assert_true(has_file() && is_whole(store));
    assert_int_equal(forget(store, seq), STATUS_OK);
    assert_int_equal(count_files(), 0);
    store->vtable->close(store);
}

/* ---- doctor ---- */

static enum status examine(bool repair, struct buf *report) {
    struct err err = {0};
    buf_clear(report);
    enum status status = sqlite_store_doctor(&options, repair, report, &err);
    if (status != STATUS_OK)
        print_message("%s%s\n", buf_cstr(report), err.text);
    return status;
}

static void write_over(size_t at, const char *text, size_t cut_to) {
    FILE *file = fopen(file_path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(file_path, (off_t)cut_to), 0);
}

static void remove_it(void) {
    assert_int_equal(unlink(file_path), 0);
}
static void cut_it(void) {
    write_over(0, "x", LARGE - 1);
}
static void flip_it(void) {
    write_over(LARGE / 2, "q", LARGE);
}

static const struct {
    void (*damage)(void);
    const char *told;
    bool kept; /* what is left of it, beside the others */
} large_damages[] = {
    {remove_it, "No such file", false},
    {cut_it, "has 4999 bytes, not 5000", true},
    {flip_it, "has another content", true},
};

static void check_damage(size_t which, bool folded) {
    uint64_t seq;
    struct buf report;
    char damaged_path[224];
    snprintf(damaged_path, sizeof damaged_path, "%s.damaged", file_path);
    buf_init_heap(&report, 1 << 16);
    struct store *store = open_store();
    assert_int_equal(put(store, &seq), STATUS_OK);
    if (folded)
        sqlite_store_fold(store);
    sqlite_store_crash(store);
    assert_int_equal(examine(false, &report), STATUS_OK);
    large_damages[which].damage();
    assert_int_equal(examine(false, &report), STATUS_CORRUPT);
    assert_non_null(strstr(buf_cstr(&report), file_path));
    assert_non_null(strstr(buf_cstr(&report), large_damages[which].told));
    assert_non_null(strstr(buf_cstr(&report), "serve starts with this damage"));
    assert_int_equal(examine(true, &report), STATUS_OK);
    assert_non_null(strstr(buf_cstr(&report), "1 messages are kept without their bodies"));
    assert_int_equal(access(damaged_path, F_OK) == 0, large_damages[which].kept);
    assert_int_equal(examine(false, &report), STATUS_OK);
    store = open_store();
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(store->letters, BYTES_NONE, bytes_of(letter_id), &held, &err),
                     STATUS_OK);
    assert_true(held->envelope.body_damaged);
    assert_int_equal(held->envelope.size, LARGE);
    message_free(held);
    assert_int_equal(access(damaged_path, F_OK) == 0, large_damages[which].kept);
    store->vtable->close(store);
    buf_free(&report);
}

static void test_doctor_finds_damaged_large_bodies_and_repair_keeps_their_letters(void **state) {
    for (size_t i = 0; i < 2 * sizeof large_damages / sizeof large_damages[0]; i++) {
        check_damage(i / 2, i % 2);
        end(state);
        start(state);
    }
}

static void test_doctor_counts_files_that_no_message_names(void **state) {
    (void)state;
    uint64_t seq;
    struct buf report;
    buf_init_heap(&report, 1 << 16);
    struct store *store = open_store();
    assert_int_equal(put(store, &seq), STATUS_OK);
    sqlite_store_crash(store); /* it is in the journal alone */
    char orphan[192];
    snprintf(orphan, sizeof orphan, "%s.large/01900000-0000-7000-8000-000000000002", path);
    FILE *file = fopen(orphan, "wb");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(examine(false, &report), STATUS_OK);
    assert_non_null(strstr(buf_cstr(&report), "1 files in "));
    assert_non_null(strstr(buf_cstr(&report), "belong to no message"));
    assert_int_equal(count_files(), 2);
    store = open_store();
    assert_true(has_file() && is_whole(store));
    assert_int_equal(count_files(), 1);
    store->vtable->close(store);
    assert_int_equal(examine(false, &report), STATUS_OK);
    assert_null(strstr(buf_cstr(&report), "belong to no message"));
    buf_free(&report);
}

/* A letter whose file is gone is shown with what is left of it. */
static void test_a_letter_without_its_file_is_shown(void **state) {
    (void)state;
    uint64_t seq;
    struct store *store = open_store();
    assert_int_equal(put(store, &seq), STATUS_OK);
    sqlite_store_fold(store);
    sqlite_store_crash(store);
    remove_it();
    store = open_store();
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(store->letters, BYTES_NONE, bytes_of(letter_id), &held, &err),
                     STATUS_OK);
    assert_true(held->envelope.body_damaged);
    message_free(held);
    held = NULL;
    assert_int_equal(letters_get_seq(store->letters, seq, &held, &err), STATUS_CORRUPT);
    assert_null(held); /* so that a caller may free it */
    store->vtable->close(store);
}

/* ---- a disk that stops ---- */

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

/* The same of a letter that dies after a retry, is edited twice and forgotten: whatever was
 * acknowledged last is what the next start finds, and every file is named by a message. */
static enum status one_life(struct store *store, size_t step, uint64_t seq) {
    struct envelope letter = letter_of((struct bytes){body, LARGE});
    struct envelope edited = letter_of((struct bytes){other_body, LARGE});
    switch (step) {
    case 0:
        return update(store, seq, &letter, BYTES_NONE);
    case 1:
        return edit(store, seq, other_body, LARGE);
    case 2:
        return update(store, seq, &edited, BYTES_NONE);
    case 3:
        return edit(store, seq, body, LARGE);
    default:
        return forget(store, seq);
    }
}

static void check_stop(int calls, bool *done) {
    static const char bodies[] = "xxyyx"; /* before each step */
    static const size_t steps = sizeof bodies - 1;
    uint64_t seq;
    struct store *store = open_store();
    struct envelope message = message_of((struct bytes){body, LARGE});
    assert_int_equal(put_in(store, "jobs", &message, &seq), STATUS_OK);
    calls_left = calls;
    size_t step = 0;
    while (step < steps && one_life(store, step, seq) == STATUS_OK)
        step++;
    *done = calls_left > 0;
    assert_true(!*done || step == steps);
    calls_left = 0;
    sqlite_store_crash(store);
    calls_left = -1;
    store = open_store();
    char found = body_in(store, BYTES("m"));
    char before = step < steps ? bodies[step] : 0;
    char after = step + 1 < steps ? bodies[step + 1] : 0;
    assert_true(found == before || found == after);
    assert_int_equal(count_files(), found != 0);
    store->vtable->close(store);
}

static void test_a_disk_that_stops_while_a_body_changes_loses_nothing(void **state) {
    bool done = false;
    for (int calls = 1; !done && calls < CALLS_MAX; calls++) {
        check_stop(calls, &done);
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
        cmocka_unit_test_setup_teardown(test_the_file_of_a_message_gets_the_id_of_its_letter, start,
                                        end),
        cmocka_unit_test_setup_teardown(test_a_letter_that_moves_takes_its_file_along, start, end),
        cmocka_unit_test_setup_teardown(test_two_messages_with_one_id_and_body_have_two_files,
                                        start, end),
        cmocka_unit_test_setup_teardown(test_an_edit_drops_the_old_file_once_it_is_durable, start,
                                        end),
        cmocka_unit_test_setup_teardown(test_a_bound_that_is_raised_keeps_the_files, start, end),
        cmocka_unit_test_setup_teardown(
            test_doctor_finds_damaged_large_bodies_and_repair_keeps_their_letters, start, end),
        cmocka_unit_test_setup_teardown(test_doctor_counts_files_that_no_message_names, start, end),
        cmocka_unit_test_setup_teardown(test_a_letter_without_its_file_is_shown, start, end),
        cmocka_unit_test_setup_teardown(test_a_disk_that_stops_at_any_step_loses_nothing, start,
                                        end),
        cmocka_unit_test_setup_teardown(test_a_disk_that_stops_while_a_body_changes_loses_nothing,
                                        start, end),
        cmocka_unit_test_setup_teardown(test_a_body_that_reads_like_a_stub_is_itself, start, end),
    };
    return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}
