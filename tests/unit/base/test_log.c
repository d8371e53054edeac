/* Lines as they reach stderr. */
#include "base/log.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/json/json.h"
#include "test.h"

enum { CAPTURED_MAX = 64 << 10 };

static int captured_fd = -1, real_fd = -1;
static char captured[CAPTURED_MAX];

static int begin(void **state) {
    (void)state;
    captured_fd = memfd_create("stderr", 0);
    real_fd = dup(STDERR_FILENO);
    dup2(captured_fd, STDERR_FILENO);
    log_set_level(LOG_INFO);
    log_set_format(LOG_TEXT);
    return captured_fd < 0;
}

static int end(void **state) {
    (void)state;
    dup2(real_fd, STDERR_FILENO);
    close(real_fd);
    close(captured_fd);
    return 0;
}

/* All that was said since the last time. */
static struct bytes said(void) {
    ssize_t len = pread(captured_fd, captured, sizeof captured, 0);
    assert_true(len >= 0);
    assert_int_equal(ftruncate(captured_fd, 0), 0);
    assert_int_equal(lseek(captured_fd, 0, SEEK_SET), 0);
    return (struct bytes){captured, (size_t)len};
}

static const struct traceparent span = {{0x4b, [15] = 0x36}, {0xf0, [7] = 0xb7}, 1};
#define TRACE_HEX "4b000000000000000000000000000036"
#define SPAN_HEX  "f0000000000000b7"

static struct log_about about(void) {
    return (struct log_about){.queue = BYTES("orders"),
                              .message_id = BYTES("o-1"),
                              .letter = BYTES("l-1"),
                              .trace = &span};
}

static void a_line_of_text_says_what_it_is_about(void **state) {
    (void)state;
    struct log_about it = about();
    log_about(LOG_WARN, &it, "it is %s", "dead");
    struct bytes line = said();
    struct bytes words =
        BYTES(" warn  queue orders: message o-1: letter l-1: it is dead trace_id=" TRACE_HEX "\n");
    assert_int_equal(line.len, strlen("2026-11-15T04:49:41.123Z") + words.len);
    assert_true(bytes_ends(line, words));
}

static void what_is_not_known_is_not_said(void **state) {
    (void)state;
    struct log_about it = {.queue = BYTES("orders")};
    log_about(LOG_INFO, &it, "paused");
    assert_true(bytes_ends(said(), BYTES(" info  queue orders: paused\n")));
    log_info("stopped");
    assert_true(bytes_ends(said(), BYTES(" info  stopped\n")));
}

static void below_its_level_nothing_is_said(void **state) {
    (void)state;
    log_debug("a detail");
    assert_int_equal(said().len, 0);
    assert_false(log_says(LOG_DEBUG));
    assert_true(log_says(LOG_INFO));
    log_set_level(LOG_DEBUG);
    assert_true(log_says(LOG_DEBUG));
    log_debug("a detail");
    assert_true(said().len > 0);
}

static void member_is(struct json object, const char *name, const char *expected) {
    struct json value;
    struct bytes text = BYTES_NONE;
    struct arena arena;
    arena_init_heap(&arena, 256);
    bool there = json_get(object, name, &value) && json_string(value, &arena, &text);
    assert_int_equal(there, expected != NULL);
    if (expected)
        assert_bytes(text, expected);
    arena_free(&arena);
}

static struct json only_line(void) {
    struct bytes rest = said(), line;
    struct json object;
    assert_true(bytes_line(&rest, &line));
    assert_int_equal(rest.len, 0);
    assert_int_equal(json_parse(line, &object, NULL), STATUS_OK);
    return object;
}

static void a_line_of_json_is_an_object(void **state) {
    (void)state;
    struct log_about it = about();
    log_set_format(LOG_JSON);
    log_about(LOG_ERROR, &it, "it is %s", "dead");
    struct json object = only_line();
    member_is(object, "level", "error");
    member_is(object, "message", "it is dead");
    member_is(object, "queue", "orders");
    member_is(object, "message_id", "o-1");
    member_is(object, "letter", "l-1");
    member_is(object, "trace_id", TRACE_HEX);
    member_is(object, "span_id", SPAN_HEX);
    log_warn("the fold failed");
    object = only_line();
    member_is(object, "message", "the fold failed");
    member_is(object, "queue", NULL);
    member_is(object, "trace_id", NULL);
}

static void nothing_in_a_message_forges_a_line(void **state) {
    (void)state;
    struct log_about it = {.message_id = BYTES("a\n2026 error\x7f")};
    log_about(LOG_WARN, &it, "%s", "first\nsecond\"}");
    assert_true(bytes_ends(said(), BYTES("message a\\x0a2026 error\\x7f: first\\x0asecond\"}\n")));
    log_set_format(LOG_JSON);
    log_about(LOG_WARN, &it, "%s", "first\nsecond\"}\xff");
    struct json object = only_line();
    member_is(object, "message", "first\nsecond\"}\xEF\xBF\xBD");
    member_is(object, "message_id", "a\n2026 error\x7f");
}

/* As long as can be, and every byte of it needs an escape. */
static void the_longest_line_is_whole(void **state) {
    (void)state;
    char text[4096], name[512];
    memset(text, 1, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memset(name, 2, sizeof name);
    struct bytes long_name = {name, sizeof name};
    struct log_about it = {long_name, long_name, long_name, &span};
    log_set_format(LOG_JSON);
    log_about(LOG_WARN, &it, "%s", text);
    member_is(only_line(), "span_id", SPAN_HEX);
    log_set_format(LOG_TEXT);
    log_about(LOG_WARN, &it, "%s", text);
    assert_true(bytes_ends(said(), BYTES(TRACE_HEX "\n")));
}

#define LOG_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        LOG_TEST(a_line_of_text_says_what_it_is_about), LOG_TEST(what_is_not_known_is_not_said),
        LOG_TEST(below_its_level_nothing_is_said),      LOG_TEST(a_line_of_json_is_an_object),
        LOG_TEST(nothing_in_a_message_forges_a_line),   LOG_TEST(the_longest_line_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
