/* A row of frames, and what a flipped bit does to it. */
#include "triage/archive/frames.h"

#include <zstd.h>

#include "test.h"

enum { LINES = 3, FILE_MAX = 1 << 16 };

static const char *const lines[LINES] = {"{\"a\":1,\"text\":\"first first first first\"}",
                                         "{\"b\":2,\"text\":\"second second second\"}",
                                         "{\"c\":3}"};
static struct buf file;
static size_t ends[LINES];

static int start(void **state) {
    (void)state;
    ZSTD_CCtx *writer = frames_writer_new();
    buf_init_heap(&file, FILE_MAX);
    for (size_t i = 0; i < LINES; i++) {
        frames_put(writer, bytes_of(lines[i]), &file);
        ends[i] = file.len;
    }
    ZSTD_freeCCtx(writer);
    return 0;
}

static int end(void **state) {
    (void)state;
    buf_free(&file);
    return 0;
}

/* Which of the lines are read, a bit each; *damaged counts what is told of as damaged. */
static unsigned read_all(struct bytes data, size_t *damaged) {
    struct frames frames;
    struct bytes text, line;
    const char *why;
    unsigned seen = 0;
    enum frames_step step;
    *damaged = 0;
    frames_init(&frames, data);
    while ((step = frames_next(&frames, &text, &why)) != FRAMES_END) {
        *damaged += step == FRAMES_DAMAGED;
        while (step == FRAMES_TEXT && bytes_line(&text, &line)) {
            size_t i = 0;
            while (i < LINES && !bytes_is(line, lines[i]))
                i++;
            assert_true(i < LINES); /* no line is made up */
            seen |= 1u << i;
        }
    }
    frames_free(&frames);
    return seen;
}

static void every_line_comes_back(void **state) {
    (void)state;
    size_t damaged;
    assert_true(frames_begin(buf_view(&file)));
    assert_int_equal(read_all(buf_view(&file), &damaged), 7);
    assert_int_equal(damaged, 0);
    assert_int_equal(read_all(BYTES_NONE, &damaged), 0);
}

/* A few bits of a header mean nothing; any other flip is told, and costs its own line and no other.
 */
static void a_flipped_bit_costs_one_line_at_most_and_is_told(void **state) {
    (void)state;
    size_t damaged, found = 0;
    for (size_t bit = 0; bit < file.len * 8; bit++) {
        size_t victim = 0;
        while (bit / 8 >= ends[victim])
            victim++;
        file.ptr[bit / 8] ^= (char)(1u << bit % 8);
        unsigned seen = read_all(buf_view(&file), &damaged);
        file.ptr[bit / 8] ^= (char)(1u << bit % 8);
        assert_int_equal(seen | 1u << victim, 7);
        assert_true(damaged == 1 || (damaged == 0 && seen == 7));
        found += damaged;
    }
    assert_true(found > file.len * 8 - 8 * LINES);
}

static void a_file_that_ends_in_the_middle_keeps_what_is_whole(void **state) {
    (void)state;
    size_t damaged;
    for (size_t len = ends[1] + 1; len < file.len; len++) {
        assert_int_equal(read_all((struct bytes){file.ptr, len}, &damaged), 3);
        assert_int_equal(damaged, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_line_comes_back, start, end),
        cmocka_unit_test_setup_teardown(a_flipped_bit_costs_one_line_at_most_and_is_told, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_file_that_ends_in_the_middle_keeps_what_is_whole, start,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
