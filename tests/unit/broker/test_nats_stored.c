#include "test.h"

#include <stdio.h>

#include "broker/nats/stream/nats_stored.h"

/* NATS/1.0, a: b, Content-Type: text/x-odd, a: c, impound-key: k1, spaced:   two words  , (end) */
#define HEADERS                                                                                    \
    "TkFUUy8xLjANCmE6IGINCkNvbnRlbnQtVHlwZTogdGV4dC94LW9kZA0KYTogYw0KaW1wb3VuZC1rZXk6IGsxDQpzcGFj" \
    "ZWQ6ICAgdHdvIHdvcmRzICANCg0K"
#define TIME "\"time\":\"2026-11-15T14:14:35.668309101Z\""

/* The answer is gone before anybody looks at the message. */
static struct message *read_text(const char *text, struct nats_stored *out) {
    struct json answer;
    char *copy = bytes_dup(bytes_of(text));
    assert_int_equal(json_parse(bytes_of(copy), &answer, NULL), STATUS_OK);
    struct message *held = nats_stored_read(answer, out);
    free(copy);
    return held;
}

static void it_is_read_byte_for_byte(void **state) {
    (void)state;
    static const char odd[] = {'\0', '\xff', '\n', '{'};
    struct nats_stored stored;
    struct message *held =
        read_text("{\"message\":{\"subject\":\"orders.new\",\"seq\":12,\"hdrs\":\"" HEADERS
                  "\",\"data\":\"AP8Kew==\"," TIME "}}",
                  &stored);
    assert_non_null(held);
    assert_bytes(stored.subject, "orders.new");
    assert_int_equal(stored.sequence, 12);
    assert_true(bytes_eq(held->body, (struct bytes){odd, sizeof odd}));
    assert_int_equal(held->envelope.size, sizeof odd);
    assert_bytes(held->envelope.content_type, "text/x-odd");
    assert_bytes(stored.typed, "Content-Type");
    assert_bytes(held->envelope.key, "k1");
    static const char *const headers[][2] = {{"a", "b"}, {"a", "c"}, {"spaced", "two words"}};
    assert_int_equal(held->envelope.header_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_bytes(held->envelope.headers[i].name, headers[i][0]);
        assert_bytes(held->envelope.headers[i].value, headers[i][1]);
    }
    struct wall at;
    assert_true(wall_parse(BYTES("2026-11-15T14:14:35.668Z"), &at));
    assert_int_equal(held->envelope.created_at.ms, at.ms);
    message_free(held);
}

static void what_is_left_out_is_empty(void **state) {
    (void)state;
    struct nats_stored stored;
    struct message *held =
        read_text("{\"message\":{\"subject\":\"o\",\"seq\":1," TIME "}}", &stored);
    assert_non_null(held);
    assert_int_equal(held->body.len, 0);
    assert_null(held->envelope.key.ptr);
    assert_int_equal(stored.typed.len, 0);
    assert_int_equal(held->envelope.header_count, 0);
    message_free(held);
}

static void headers_that_are_none_are_left_out(void **state) {
    (void)state;
    static const struct {
        const char *headers;
        size_t count;
    } cases[] = {
        {"SFRUUC8xLjANCmE6IGINCg0K", 0},                         /* HTTP/1.0, a: b */
        {"TkFUUy8xLjANCjogbm8gbmFtZQ0Kbm8gY29sb24NCmxhc3Q6", 1}, /* : no name, no colon, last: */
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nats_stored stored;
        char text[256];
        snprintf(text, sizeof text,
                 "{\"message\":{\"subject\":\"o\",\"seq\":1,\"hdrs\":\"%s\"," TIME "}}",
                 cases[i].headers);
        struct message *held = read_text(text, &stored);
        assert_non_null(held);
        assert_int_equal(held->envelope.header_count, cases[i].count);
        message_free(held);
    }
}

static void more_headers_than_an_envelope_has_are_cut_off(void **state) {
    (void)state;
    struct buf block;
    buf_init_heap(&block, 1 << 20);
    buf_str(&block, "NATS/1.0\r\n");
    for (unsigned i = 0; i < ENVELOPE_HEADERS_MAX + 10; i++)
        buf_printf(&block, "n%u: %u\r\n", i, i);
    struct buf text;
    buf_init_heap(&text, 1 << 20);
    buf_str(&text, "{\"message\":{\"subject\":\"o\",\"seq\":1," TIME ",\"hdrs\":");
    struct json_out out = json_out(&text);
    json_put_base64(&out, buf_view(&block));
    buf_str(&text, "}}");
    struct nats_stored stored;
    struct message *held = read_text(buf_cstr(&text), &stored);
    assert_non_null(held);
    assert_int_equal(held->envelope.header_count, ENVELOPE_HEADERS_MAX);
    assert_bytes(held->envelope.headers[0].name, "n0");
    assert_bytes(held->envelope.headers[ENVELOPE_HEADERS_MAX - 1].value, "255");
    message_free(held);
    buf_free(&text);
    buf_free(&block);
}

static void what_is_no_message_is_refused(void **state) {
    (void)state;
    static const char *const cases[] = {
        "{}",
        "[1]",
        "{\"message\":{}}",
        "{\"message\":{\"subject\":\"o\",\"seq\":1}}",
        "{\"message\":{\"subject\":\"\",\"seq\":1," TIME "}}",
        "{\"message\":{\"subject\":\"o\",\"seq\":-1," TIME "}}",
        "{\"message\":{\"subject\":\"o\",\"seq\":1,\"time\":\"yesterday\"}}",
        "{\"message\":{\"subject\":\"o\",\"seq\":1,\"data\":\"?\"," TIME "}}",
        "{\"message\":{\"subject\":\"o\",\"seq\":1,\"hdrs\":7," TIME "}}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nats_stored stored;
        assert_null(read_text(cases[i], &stored));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_read_byte_for_byte),
        cmocka_unit_test(what_is_left_out_is_empty),
        cmocka_unit_test(headers_that_are_none_are_left_out),
        cmocka_unit_test(more_headers_than_an_envelope_has_are_cut_off),
        cmocka_unit_test(what_is_no_message_is_refused),
    };
    return cmocka_run_group_tests_name("nats_stored", tests, NULL, NULL);
}
