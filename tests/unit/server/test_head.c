/* What is said of a head, and how early. */
#include "test.h"

#include "base/buf.h"
#include "server/head.h"

static void a_head_is_taken_refused_or_waited_for(void **state) {
    (void)state;
    static const struct {
        const char *seen;
        enum status status;
        bool whole;
    } rows[] = {
        {"", STATUS_OK, false},
        {"\r\n", STATUS_OK, false},
        {"G", STATUS_OK, false},
        {"GET /x HT", STATUS_OK, false},
        {"GET /x HTTP/1.1\r\n", STATUS_OK, false},
        {"GET /x HTTP/1.1\r\nHost: h\r\n", STATUS_OK, false},
        {"GET /x HTTP/1.1\r\nHost: h\r\n\r\n", STATUS_OK, true},
        {"\r\nGET /x HTTP/1.1\r\nHOST:h\r\n\r\nbody: \x01", STATUS_OK, true},
        {"GET /x HTTP/1.0\n\n", STATUS_OK, true},
        {"GET /x HTTP/1.1\r\n\r\n", STATUS_INVALID, true},
        {"\x16\x03", STATUS_INVALID, false},
        {" /x HTTP/1.1\r\n", STATUS_INVALID, false},
        {"GET  HTTP/1.1\r\n", STATUS_INVALID, false},
        {"GET /x\r\n", STATUS_INVALID, false},
        {"GET /x HTTP/2.0\r\n", STATUS_INVALID, false},
        {"POSTPOSTPOSTPOSTPOSTPOSTPOSTPOSTPOST", STATUS_INVALID, false},
        {"GET /x HTTP/1.1\r\nHost h\r\n", STATUS_INVALID, false},
        {"GET /x HTTP/1.1\r\n folded: 1\r\n", STATUS_INVALID, false},
        {"GET /x HTTP/1.1\r\nA: \x01\r\n", STATUS_INVALID, false},
        {"GET /x HTTP/1.1\r\nContent-Length: 1x\r\n", STATUS_INVALID, false},
        {"GET /x HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n", STATUS_INVALID, false},
        {"GET /x HTTP/1.1\r\nContent-Length: 1\r\ncontent-length: 1\r\n", STATUS_INVALID, false},
        {"GET /x HTTP/1.1\r\nTransfer-Encoding: br\r\n", STATUS_INVALID, false},
        {"GET /x HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n", STATUS_OK, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err;
        bool whole;
        enum status status = head_check(bytes_of(rows[i].seen), &whole, &err);
        if (status != rows[i].status || whole != rows[i].whole)
            fail_msg("row %zu: %s, %swhole", i, status_name(status), whole ? "" : "not ");
    }
}

/* A head of `count` times `part` behind `start`, as far as it has come. */
static enum status check_many(const char *start, const char *part, size_t count, const char *end) {
    struct buf text;
    buf_init_heap(&text, 1 << 20);
    buf_str(&text, start);
    for (size_t i = 0; i < count; i++)
        buf_str(&text, part);
    buf_str(&text, end);
    struct err err;
    bool whole;
    enum status status = head_check(buf_view(&text), &whole, &err);
    buf_free(&text);
    return status;
}

static void every_limit_is_met_exactly(void **state) {
    (void)state;
    static const struct {
        const char *start, *part, *end;
        size_t most;
        enum status beyond;
    } rows[] = {
        {"GET ", "x", "", HEAD_TARGET_MAX, STATUS_URI_TOO_LONG},
        {"GET ", "x", " HTTP/1.0\r\n\r\n", HEAD_TARGET_MAX, STATUS_URI_TOO_LONG},
        {"GET /?a", "&b", "", HEAD_ARGS_MAX - 1, STATUS_INVALID},
        {"GET / HTTP/1.0\r\n", "a: b\r\n", "", HEAD_FIELDS_MAX, STATUS_HEAD_TOO_LARGE},
        {"GET / HTTP/1.0\r\nA: ", "x", "", HEAD_BYTES_MAX - 19, STATUS_HEAD_TOO_LARGE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(check_many(rows[i].start, rows[i].part, rows[i].most, rows[i].end),
                         STATUS_OK);
        assert_int_equal(check_many(rows[i].start, rows[i].part, rows[i].most + 1, rows[i].end),
                         rows[i].beyond);
    }
}

static void the_head_of_head_is_known_early(void **state) {
    (void)state;
    assert_true(head_is_bodiless(BYTES("\r\nHEAD /x")));
    assert_false(head_is_bodiless(BYTES("HEA")));
    assert_false(head_is_bodiless(BYTES("GET /x")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_taken_refused_or_waited_for),
        cmocka_unit_test(every_limit_is_met_exactly),
        cmocka_unit_test(the_head_of_head_is_known_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
