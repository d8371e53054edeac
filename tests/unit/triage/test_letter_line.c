/* A letter as a line and back. */
#include "triage/query/letter_line.h"

#include <sodium.h>

#include "test.h"

enum { TEXT_MAX = 1 << 20 };

static struct arena arena;
static struct err err;

static int start(void **state) {
    (void)state;
    arena_init_heap(&arena, 4096);
    return 0;
}

static int end(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct envelope letter(const char *type, struct bytes body) {
    struct envelope envelope = {.id = BYTES("o-1"),
                                .letter_id = BYTES("l-1"),
                                .queue = BYTES("orders"),
                                .dlq = BYTES("orders.dlq"),
                                .state = STATE_PENDING_REVIEW,
                                .content_type = bytes_of(type),
                                .retry_after_ms = -1,
                                .size = body.len,
                                .dead_at = {1763182181123}};
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)body.ptr, body.len);
    sodium_bin2hex(envelope.content_hash, sizeof envelope.content_hash, hash, sizeof hash);
    return envelope;
}

static struct bytes line_of(const struct envelope *envelope, struct bytes body) {
    struct buf text;
    buf_init_fixed(&text, arena_alloc(&arena, TEXT_MAX), TEXT_MAX);
    envelope_encode(envelope, ENVELOPE_LINE, body, &text);
    assert_false(text.overflow);
    return buf_view(&text);
}

static void every_body_comes_back_to_the_byte(void **state) {
    (void)state;
    static const struct {
        const char *type;
        struct bytes body;
    } cases[] = {
        {"application/json", BYTES("{\"a\":1.0, \"a\":12345678901234567890}")},
        {"application/json; charset=utf-8", BYTES("\"text\"")},
        {"application/json", BYTES(" {} ")},
        {"application/json", BYTES("{\n\"a\": 1}")},
        {"application/json", BYTES("no JSON")},
        {"application/json", BYTES("")},
        {"text/json", BYTES("[1.0, 2]")},
        {"application/vnd.api+json", BYTES("\"text\"")},
        {"application/vnd.api+json", BYTES("{\n}")},
        {"text/plain", BYTES("")},
        {"text/plain", BYTES("{\"looks\": \"like JSON\"}")},
        {"text/plain", BYTES("two\r\nlines, a \" and a \0")},
        {"", BYTES("\xff\xfe")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct envelope envelope = letter(cases[i].type, cases[i].body);
        struct bytes line = line_of(&envelope, cases[i].body);
        struct letter_line read;
        assert_int_equal(bytes_find(line, BYTES("\n")), line.len);
        assert_int_equal(letter_line_read(line, &arena, &read, &err), STATUS_OK);
        assert_true(bytes_eq(read.body, cases[i].body));
        assert_bytes(read.envelope.letter_id, "l-1");
        assert_true(bytes_eq(line_of(&read.envelope, read.body), line));
    }
}

/* Version 0.1 took only application/json for JSON, and wrote these as texts. */
static void a_json_body_that_was_written_as_a_text_comes_back_to_the_byte(void **state) {
    (void)state;
    struct bytes body = BYTES("{\"a\":1.0}");
    struct envelope envelope = letter("text/plain", body);
    struct bytes line = line_of(&envelope, body);
    size_t at = bytes_find(line, BYTES("text/plain"));
    char *text = arena_cstr(&arena, line);
    struct letter_line read;
    memcpy(text + at, "a/b00+json", strlen("text/plain"));
    assert_int_equal(letter_line_read(bytes_of(text), &arena, &read, &err), STATUS_OK);
    assert_bytes(read.envelope.content_type, "a/b00+json");
    assert_true(bytes_eq(read.body, body));
}

static void refused(struct envelope envelope, const char *why) {
    struct letter_line read;
    struct bytes line = line_of(&envelope, BYTES("{}"));
    assert_int_equal(letter_line_read(line, &arena, &read, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, why));
}

static void what_is_no_whole_letter_is_refused(void **state) {
    (void)state;
    struct letter_line read;
    struct envelope envelope = letter("application/json", BYTES("{}"));
    envelope.state = STATE_QUEUED;
    refused(envelope, "queued");
    refused(letter("application/json", BYTES("{ }")), "content_hash");
    envelope = letter("application/json", BYTES("{}"));
    envelope.dlq = BYTES_NONE;
    refused(envelope, "dlq");
    assert_int_equal(letter_line_read(BYTES("{}"), &arena, &read, &err), STATUS_INVALID);
    assert_int_equal(letter_line_read(BYTES("{"), &arena, &read, &err), STATUS_INVALID);
}

static void what_was_being_replayed_waits_for_review(void **state) {
    (void)state;
    struct letter_line read;
    struct envelope envelope = letter("application/json", BYTES("{}"));
    envelope.state = STATE_REPLAYING;
    struct bytes line = line_of(&envelope, BYTES("{}"));
    assert_int_equal(letter_line_read(line, &arena, &read, &err), STATUS_OK);
    assert_int_equal(read.envelope.state, STATE_PENDING_REVIEW);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_body_comes_back_to_the_byte, start, end),
        cmocka_unit_test_setup_teardown(
            a_json_body_that_was_written_as_a_text_comes_back_to_the_byte, start, end),
        cmocka_unit_test_setup_teardown(what_is_no_whole_letter_is_refused, start, end),
        cmocka_unit_test_setup_teardown(what_was_being_replayed_waits_for_review, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
