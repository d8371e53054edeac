/* The bytes of a request, told by their places in the protocol and not by our own reader of it. */
#include "telemetry/otlp.h"

#include "test.h"

enum { REQUEST_MAX = 64 << 10, ANSWER_MAX = 4096 };

/* A field of a message: its number, its wire type, and what it holds. */
struct field {
    uint64_t number, type, value; /* of a varint or a fixed one */
    struct bytes text;            /* of a length-delimited one */
};

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_TEXT = 2, WIRE_FIXED32 = 5 };

static uint64_t varint(struct bytes *rest) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(rest->len > 0 && shift < 64);
        unsigned char byte = (unsigned char)rest->ptr[0];
        *rest = bytes_cut(*rest, 1, rest->len);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

static uint64_t fixed(struct bytes *rest, size_t size) {
    uint64_t value = 0;
    assert_true(rest->len >= size);
    memcpy(&value, rest->ptr, size);
    *rest = bytes_cut(*rest, size, rest->len);
    return value;
}

static bool next(struct bytes *rest, struct field *out) {
    if (rest->len == 0)
        return false;
    uint64_t tag = varint(rest);
    *out = (struct field){.number = tag >> 3, .type = tag & 7};
    if (out->type == WIRE_TEXT) {
        uint64_t len = varint(rest);
        assert_true(len <= rest->len);
        out->text = bytes_cut(*rest, 0, len);
        *rest = bytes_cut(*rest, len, rest->len);
    } else if (out->type == WIRE_VARINT) {
        out->value = varint(rest);
    } else {
        assert_true(out->type == WIRE_FIXED64 || out->type == WIRE_FIXED32);
        out->value = fixed(rest, out->type == WIRE_FIXED64 ? 8 : 4);
    }
    return true;
}

/* The nth field of that number, which must be there. */
static struct field nth(struct bytes message, uint64_t number, size_t n) {
    struct field field;
    while (next(&message, &field))
        if (field.number == number && n-- == 0)
            return field;
    fail_msg("no field %llu", (unsigned long long)number);
    return field;
}

static struct bytes inside(struct bytes message, uint64_t number) {
    return nth(message, number, 0).text;
}

static bool has(struct bytes message, uint64_t number) {
    struct field field;
    while (next(&message, &field))
        if (field.number == number)
            return true;
    return false;
}

static struct span example(void) {
    return (struct span){.own = {{0xaa, [15] = 0xbb}, {0xcc, [7] = 0xdd}, 1},
                         .parent = {0xee, [7] = 0xff},
                         .trace_state = BYTES("a=1"),
                         .name = BYTES("process orders"),
                         .kind = SPAN_CONSUMER,
                         .from = {1700000000123},
                         .to = {1700000000456},
                         .attributes = {{"messaging.message.id", BYTES("o-1"), 0},
                                        {"impound.attempt", BYTES_NONE, 300}},
                         .attribute_count = 2,
                         .links = {{{{1}, {2}, 1}, BYTES("b=2")}},
                         .link_count = 1,
                         .failed = true,
                         .trouble = BYTES("it said no")};
}

static struct bytes encode(const struct span *span, struct buf *buf) {
    struct otlp_origin origin = {BYTES("shop"), BYTES("1.2.3"), BYTES("host-7")};
    buf_init_heap(buf, REQUEST_MAX);
    otlp_put_request(&origin, &span, 1, buf);
    assert_false(buf->overflow);
    return buf_view(buf);
}

static void a_request_says_who_tells(void **state) {
    (void)state;
    struct buf buf;
    struct span span = example();
    struct bytes resource_spans = inside(encode(&span, &buf), 1);
    struct bytes resource = inside(resource_spans, 1), scope = inside(inside(resource_spans, 2), 1);
    struct bytes name = nth(resource, 1, 0).text;
    assert_bytes(inside(name, 1), "service.name");
    assert_bytes(inside(inside(name, 2), 1), "shop");
    assert_bytes(inside(nth(resource, 1, 1).text, 1), "service.version");
    assert_bytes(inside(nth(resource, 1, 2).text, 1), "service.instance.id");
    assert_bytes(inside(scope, 1), "impound");
    assert_bytes(inside(scope, 2), "1.2.3");
    buf_free(&buf);
}

static void a_span_stands_under_the_protocols_numbers(void **state) {
    (void)state;
    struct buf buf;
    struct span from = example();
    struct bytes span = inside(inside(inside(encode(&from, &buf), 1), 2), 2);
    assert_int_equal(inside(span, 1).len, TRACE_ID_SIZE);
    assert_memory_equal(inside(span, 1).ptr, from.own.trace_id, TRACE_ID_SIZE);
    assert_memory_equal(inside(span, 2).ptr, from.own.span_id, SPAN_ID_SIZE);
    assert_bytes(inside(span, 3), "a=1");
    assert_memory_equal(inside(span, 4).ptr, from.parent, SPAN_ID_SIZE);
    assert_bytes(inside(span, 5), "process orders");
    assert_int_equal(nth(span, 6, 0).value, 5);
    assert_int_equal(nth(span, 7, 0).type, WIRE_FIXED64);
    assert_int_equal(nth(span, 7, 0).value, 1700000000123000000);
    assert_int_equal(nth(span, 8, 0).value, 1700000000456000000);
    assert_bytes(inside(nth(span, 9, 0).text, 1), "messaging.message.id");
    assert_bytes(inside(inside(nth(span, 9, 0).text, 2), 1), "o-1");
    assert_bytes(inside(nth(span, 9, 1).text, 1), "impound.attempt");
    assert_int_equal(nth(inside(nth(span, 9, 1).text, 2), 3, 0).value, 300);
    struct bytes link = inside(span, 13), status = inside(span, 15);
    assert_memory_equal(inside(link, 1).ptr, from.links[0].to.trace_id, TRACE_ID_SIZE);
    assert_memory_equal(inside(link, 2).ptr, from.links[0].to.span_id, SPAN_ID_SIZE);
    assert_bytes(inside(link, 3), "b=2");
    assert_int_equal(nth(link, 6, 0).type, WIRE_FIXED32);
    assert_bytes(inside(status, 2), "it said no");
    assert_int_equal(nth(status, 3, 0).value, 2);
    assert_int_equal(nth(span, 16, 0).type, WIRE_FIXED32);
    assert_int_equal(nth(span, 16, 0).value, 1);
    buf_free(&buf);
}

static void what_a_span_has_not_is_not_sent(void **state) {
    (void)state;
    struct buf buf;
    struct span from = {.own = {{1}, {2}, 1}, .name = BYTES("settle q")};
    struct bytes span = inside(inside(inside(encode(&from, &buf), 1), 2), 2);
    for (uint64_t number = 3; number <= 15; number++)
        if (number != 5)
            assert_false(has(span, number));
    buf_free(&buf);
}

static void texts_are_mended(void **state) {
    (void)state;
    struct buf buf;
    struct span from = example();
    from.attributes[0].text = BYTES("a\0\xff\xc3\xa4");
    struct bytes span = inside(inside(inside(encode(&from, &buf), 1), 2), 2);
    assert_bytes(inside(inside(nth(span, 9, 0).text, 2), 1), "a\xEF\xBF\xBD\xEF\xBF\xBD\xc3\xa4");
    buf_free(&buf);
}

static void an_answer_tells_what_was_rejected(void **state) {
    (void)state;
    static const struct {
        struct bytes body;
        uint64_t rejected;
        const char *text;
    } cases[] = {
        {{"", 0}, 0, ""},
        {{"\x0a\x06\x08\x03\x12\x02no", 8}, 3, "no"},
        {{"\x0a\x04\x12\x02no", 6}, 0, "no"},
        {{"\x0a\x06\x08\x03\x12\x09no", 8}, 0, ""},
        {{"{}", 2}, 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct otlp_answer answer;
        otlp_read_answer(cases[i].body, &answer);
        assert_int_equal(answer.rejected, cases[i].rejected);
        assert_string_equal(answer.text, cases[i].text);
    }
}

static void an_answers_text_is_cut(void **state) {
    (void)state;
    char body[ANSWER_MAX] = "\x0a\x83\x10\x12\x80\x10"; /* 2,051 bytes, of which 2,048 are text */
    struct otlp_answer answer;
    memset(body + 6, 'x', 2048);
    otlp_read_answer((struct bytes){body, 6 + 2048}, &answer);
    assert_int_equal(strlen(answer.text), OTLP_ANSWER_TEXT_MAX - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_says_who_tells),
        cmocka_unit_test(a_span_stands_under_the_protocols_numbers),
        cmocka_unit_test(what_a_span_has_not_is_not_sent),
        cmocka_unit_test(texts_are_mended),
        cmocka_unit_test(an_answer_tells_what_was_rejected),
        cmocka_unit_test(an_answers_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
