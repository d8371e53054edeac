#include "triage/archive/spill_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/tempdir.h"
#include "test.h"

enum { PATH_SIZE = 256, FILE_MAX = 16 * 1024 * 1024 };

static const struct wall day_one = {1763182181123}; /* 2025-11-15 */
static const struct wall day_two = {1763268581123}; /* 2025-11-16 */

static char folder[64];
static char root[PATH_SIZE];
static unsigned case_number;
static struct spill *spill;
static struct err err;

static int start(void **state) {
    (void)state;
    snprintf(root, sizeof root, "%s/%u", folder, ++case_number);
    assert_int_equal(mkdir(root, 0700), 0);
    spill = spill_file_new(bytes_of(root));
    return 0;
}

static int end(void **state) {
    (void)state;
    spill->vtable->free(spill);
    return 0;
}

static void again(void) {
    spill->vtable->free(spill);
    spill = spill_file_new(bytes_of(root));
}

static enum status append_to(const char *archive, const char *dlq, struct wall now,
                             const char *line) {
    return spill->vtable->append(spill, bytes_of(archive), bytes_of(dlq), now, bytes_of(line),
                                 &err);
}

static void append(const char *line) {
    assert_int_equal(append_to("file:archive/", "orders.dlq", day_one, line), STATUS_OK);
}

static void sync_spill(void) {
    assert_int_equal(spill->vtable->sync(spill, &err), STATUS_OK);
}

static const char *path_of(const char *name) {
    static char path[PATH_SIZE * 2];
    snprintf(path, sizeof path, "%s/archive/orders.dlq/%s", root, name);
    return path;
}

#define FIRST_FILE "spill-2025-11-15.ndjson.zst"

static struct buf read_file(const char *path) {
    struct buf out;
    buf_init_heap(&out, FILE_MAX);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char chunk[4096];
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;)
        buf_put(&out, chunk, got);
    fclose(file);
    return out;
}

/* Decodes frame by frame; every frame must be one whole line. */
static void assert_lines(const char *path, const char *expected) {
    struct buf file = read_file(path), lines;
    buf_init_heap(&lines, FILE_MAX);
    for (size_t at = 0; at < file.len;) {
        size_t len = ZSTD_findFrameCompressedSize(file.ptr + at, file.len - at);
        assert_false(ZSTD_isError(len));
        char text[4096];
        size_t got = ZSTD_decompress(text, sizeof text, file.ptr + at, len);
        assert_false(ZSTD_isError(got));
        assert_true(got > 0 && text[got - 1] == '\n');
        buf_put(&lines, text, got);
        at += len;
    }
    assert_bytes(buf_view(&lines), expected);
    buf_free(&file);
    buf_free(&lines);
}

static void change_file(const char *path, const char *tail, size_t len, long cut) {
    int fd = open(path, O_RDWR | O_APPEND);
    assert_true(fd >= 0);
    struct stat stat;
    assert_int_equal(fstat(fd, &stat), 0);
    assert_int_equal(ftruncate(fd, stat.st_size - cut), 0);
    assert_int_equal(write(fd, tail, len), len);
    close(fd);
}

static void each_letter_is_a_frame_of_one_line(void **state) {
    (void)state;
    append("{\"id\":1}");
    append("{\"id\":2}");
    sync_spill();
    assert_lines(path_of(FIRST_FILE), "{\"id\":1}\n{\"id\":2}\n");
}

static void the_zstd_command_reads_it(void **state) {
    (void)state;
    char command[PATH_SIZE * 3];
    append("{\"id\":1}");
    append("{\"id\":2}");
    sync_spill();
    snprintf(command, sizeof command, "zstd -dcq %s", path_of(FIRST_FILE));
    FILE *pipe = popen(command, "r");
    char text[256];
    size_t got = fread(text, 1, sizeof text, pipe);
    int status = pclose(pipe);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        skip();
    assert_int_equal(status, 0);
    assert_bytes(((struct bytes){text, got}), "{\"id\":1}\n{\"id\":2}\n");
}

static void each_dlq_and_day_has_its_file(void **state) {
    (void)state;
    append("1");
    assert_int_equal(append_to("file:archive", "orders.dlq", day_two, "2"), STATUS_OK);
    assert_int_equal(append_to("file:archive", "other.dlq", day_one, "3"), STATUS_OK);
    sync_spill();
    assert_lines(path_of(FIRST_FILE), "1\n");
    assert_lines(path_of("spill-2025-11-16.ndjson.zst"), "2\n");
    assert_lines(path_of("../other.dlq/spill-2025-11-15.ndjson.zst"), "3\n");
}

static void a_later_process_appends_to_the_same_file(void **state) {
    (void)state;
    append("1");
    sync_spill();
    again();
    append("2");
    sync_spill();
    assert_lines(path_of(FIRST_FILE), "1\n2\n");
}

static void absolute_archives_are_taken_as_they_are(void **state) {
    (void)state;
    char archive[PATH_SIZE * 2];
    snprintf(archive, sizeof archive, "file:%s/archive", root);
    assert_int_equal(append_to(archive, "orders.dlq", day_one, "1"), STATUS_OK);
    snprintf(archive, sizeof archive, "file://%s/archive/", root);
    assert_int_equal(append_to(archive, "orders.dlq", day_one, "1"), STATUS_OK);
    sync_spill();
    assert_lines(path_of(FIRST_FILE), "1\n1\n");
}

static void a_torn_frame_is_cut_off_before_the_next(void **state) {
    (void)state;
    for (long cut = 1; cut <= 12; cut++) {
        char name[32];
        snprintf(name, sizeof name, "orders%ld.dlq", cut);
        assert_int_equal(append_to("file:archive", name, day_one, "1"), STATUS_OK);
        assert_int_equal(append_to("file:archive", name, day_one, "22222222"), STATUS_OK);
        sync_spill();
        char path[PATH_SIZE * 2];
        snprintf(path, sizeof path, "%s/archive/%s/%s", root, name, FIRST_FILE);
        change_file(path, "", 0, cut);
        again();
        assert_int_equal(append_to("file:archive", name, day_one, "3"), STATUS_OK);
        sync_spill();
        assert_lines(path, "1\n3\n");
    }
}

static void zeroes_at_the_end_are_cut_off_too(void **state) {
    (void)state;
    static const char zeroes[5000];
    append("1");
    sync_spill();
    change_file(path_of(FIRST_FILE), zeroes, sizeof zeroes, 0);
    again();
    append("2");
    sync_spill();
    assert_lines(path_of(FIRST_FILE), "1\n2\n");
}

static void other_damage_is_left_alone_and_a_new_file_begun(void **state) {
    (void)state;
    append("1");
    sync_spill();
    change_file(path_of(FIRST_FILE), "this is no frame", 16, 0);
    struct buf before = read_file(path_of(FIRST_FILE));
    again();
    append("2");
    append("3");
    sync_spill();
    struct buf after = read_file(path_of(FIRST_FILE));
    assert_true(bytes_eq(buf_view(&before), buf_view(&after)));
    assert_lines(path_of("spill-2025-11-15.2.ndjson.zst"), "2\n3\n");
    buf_free(&before);
    buf_free(&after);
}

static void a_flipped_bit_is_damage(void **state) {
    (void)state;
    append("{\"id\":\"a letter with some text in it\"}");
    sync_spill();
    struct buf file = read_file(path_of(FIRST_FILE));
    file.ptr[file.len / 2] ^= 4;
    change_file(path_of(FIRST_FILE), file.ptr, file.len, (long)file.len);
    buf_free(&file);
    again();
    append("2");
    sync_spill();
    assert_lines(path_of("spill-2025-11-15.2.ndjson.zst"), "2\n");
}

static void a_damaged_length_does_not_cost_the_frames_behind_it(void **state) {
    (void)state;
    append("1111");
    append("2");
    sync_spill();
    struct buf file = read_file(path_of(FIRST_FILE));
    for (size_t at = 4; at < 9; at++) {
        char kept = file.ptr[at];
        file.ptr[at] = (char)0xfe;
        if (ZSTD_isError(ZSTD_findFrameCompressedSize(file.ptr, file.len))) {
            change_file(path_of(FIRST_FILE), file.ptr, file.len, (long)file.len);
            again();
            append("3");
            sync_spill();
            struct buf after = read_file(path_of(FIRST_FILE));
            assert_true(bytes_eq(buf_view(&file), buf_view(&after)));
            buf_free(&after);
        }
        file.ptr[at] = kept;
        change_file(path_of(FIRST_FILE), file.ptr, file.len, (long)file.len);
    }
    buf_free(&file);
}

static void names_cannot_leave_the_archive(void **state) {
    (void)state;
    static const char *const bad[] = {"", "..", "a/b", "../x", "a..b", ".", "/etc"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(append_to("file:archive", bad[i], day_one, "x"), STATUS_INVALID);
    assert_int_equal(append_to("s3://bucket/x", "orders.dlq", day_one, "x"), STATUS_NOT_YET);
    assert_non_null(strstr(err.text, "in this version"));
}

static void a_folder_that_cannot_be_made_is_said_so(void **state) {
    (void)state;
    char path[PATH_SIZE * 2];
    snprintf(path, sizeof path, "%s/archive", root);
    fclose(fopen(path, "w"));
    assert_int_equal(append_to("file:archive", "orders.dlq", day_one, "x"), STATUS_IO);
    assert_non_null(strstr(err.text, "archive"));
}

static void syncing_nothing_is_fine(void **state) {
    (void)state;
    sync_spill();
    append("1");
    sync_spill();
    sync_spill();
}

static void many_files_stay_within_the_limit(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof name, "q%d.dlq", i);
        assert_int_equal(append_to("file:archive", name, day_one, "1"), STATUS_OK);
        if (i % 10 == 9)
            sync_spill();
    }
    sync_spill();
    assert_int_equal(append_to("file:archive", "q0.dlq", day_one, "2"), STATUS_OK);
    sync_spill();
    append("3");
    assert_lines(path_of("../q0.dlq/spill-2025-11-15.ndjson.zst"), "1\n2\n");
}

static int remove_all(void **state) {
    (void)state;
    tempdir_remove(folder);
    return 0;
}

static int make_all(void **state) {
    (void)state;
    return tempdir_make("/tmp", "impound-spill", folder, sizeof folder, NULL) ? -1 : 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(each_letter_is_a_frame_of_one_line),
        CASE(the_zstd_command_reads_it),
        CASE(each_dlq_and_day_has_its_file),
        CASE(a_later_process_appends_to_the_same_file),
        CASE(absolute_archives_are_taken_as_they_are),
        CASE(a_torn_frame_is_cut_off_before_the_next),
        CASE(zeroes_at_the_end_are_cut_off_too),
        CASE(other_damage_is_left_alone_and_a_new_file_begun),
        CASE(a_flipped_bit_is_damage),
        CASE(a_damaged_length_does_not_cost_the_frames_behind_it),
        CASE(names_cannot_leave_the_archive),
        CASE(a_folder_that_cannot_be_made_is_said_so),
        CASE(syncing_nothing_is_fine),
        CASE(many_files_stay_within_the_limit),
    };
    return cmocka_run_group_tests(tests, make_all, remove_all);
}
