/* traceparent: see the header. */
#include "base/text/traceparent.h"

#include <string.h>

/* Offsets of the parts. */
enum {
    TRACE_AT = 3,
    SPAN_AT = TRACE_AT + 2 * TRACE_ID_SIZE + 1,
    FLAGS_AT = SPAN_AT + 2 * SPAN_ID_SIZE + 1,
    TEXT_LEN = FLAGS_AT + 2,
    VERSION_NONE = 0xff, /* forbidden by the specification */
};

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(struct bytes text, size_t at, unsigned char *out, size_t size) {
    for (size_t i = 0; i < size; i++) {
        int high = digit_of(text.ptr[at + 2 * i]), low = digit_of(text.ptr[at + 2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool is_zero(const unsigned char *id, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (id[i])
            return false;
    return true;
}

/* Additions of later versions follow another hyphen. */
static bool has_shape(struct bytes text) {
    if (text.len < TEXT_LEN || text.ptr[TRACE_AT - 1] != '-' || text.ptr[SPAN_AT - 1] != '-' ||
        text.ptr[FLAGS_AT - 1] != '-')
        return false;
    unsigned char version;
    if (!read_hex(text, 0, &version, 1) || version == VERSION_NONE)
        return false;
    return text.len == TEXT_LEN || (version > 0 && text.ptr[TEXT_LEN] == '-');
}

bool traceparent_parse(struct bytes text, struct traceparent *out) {
    struct traceparent read = {0};
    *out = read;
    text = bytes_trim(text);
    if (!has_shape(text) || !read_hex(text, TRACE_AT, read.trace_id, TRACE_ID_SIZE) ||
        !read_hex(text, SPAN_AT, read.span_id, SPAN_ID_SIZE) ||
        !read_hex(text, FLAGS_AT, &read.flags, 1))
        return false;
    if (is_zero(read.trace_id, TRACE_ID_SIZE) || is_zero(read.span_id, SPAN_ID_SIZE))
        return false;
    *out = read;
    return true;
}

const char *traceparent_hex(const unsigned char *id, size_t size, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[id[i] >> 4];
        out[2 * i + 1] = digits[id[i] & 15];
    }
    out[2 * size] = '\0';
    return out;
}

const char *traceparent_text(const struct traceparent *from, char out[TRACEPARENT_TEXT_SIZE]) {
    memcpy(out, "00", 2);
    out[TRACE_AT - 1] = '-';
    traceparent_hex(from->trace_id, TRACE_ID_SIZE, out + TRACE_AT);
    out[SPAN_AT - 1] = '-';
    traceparent_hex(from->span_id, SPAN_ID_SIZE, out + SPAN_AT);
    out[FLAGS_AT - 1] = '-';
    traceparent_hex(&from->flags, 1, out + FLAGS_AT);
    return out;
}
