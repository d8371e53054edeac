/* header_value: see the header. */
#include "handler/http/header_value.h"

#include <assert.h>

enum part_kind { PART_TEXT, PART_ID, PART_KEY, PART_UNKNOWN };

struct template_part {
    enum part_kind kind;
    struct bytes text; /* TEXT: to be written; UNKNOWN: with its braces */
};

enum { WORD_LEAST = 2, WORD_MOST = 16 };

/* The length of "{word}" at the start of the text; 0: none. */
static size_t word_length(struct bytes text) {
    size_t at = 1;
    if (text.len == 0 || text.ptr[0] != '{')
        return 0;
    while (at < text.len && text.ptr[at] >= 'a' && text.ptr[at] <= 'z')
        at++;
    bool closed = at < text.len && text.ptr[at] == '}';
    return closed && at > WORD_LEAST && at <= WORD_MOST + 1 ? at + 1 : 0;
}

/* Removes the next part from *rest. */
static struct template_part next_part(struct bytes *rest) {
    assert(rest->len > 0);
    struct bytes text = *rest;
    size_t doubled = text.ptr[0] == '{' ? word_length(bytes_cut(text, 1, text.len)) : 0;
    size_t len = word_length(text);
    if (doubled > 0 && doubled + 1 < text.len && text.ptr[doubled + 1] == '}') {
        *rest = bytes_cut(text, doubled + 2, text.len);
        return (struct template_part){PART_TEXT, bytes_cut(text, 1, doubled + 1)};
    }
    if (len > 0) {
        struct bytes word = bytes_cut(text, 0, len);
        *rest = bytes_cut(text, len, text.len);
        if (bytes_is(word, "{id}"))
            return (struct template_part){PART_ID, word};
        return (struct template_part){bytes_is(word, "{key}") ? PART_KEY : PART_UNKNOWN, word};
    }
    size_t end = 1;
    while (end < text.len && text.ptr[end] != '{')
        end++;
    *rest = bytes_cut(text, end, text.len);
    return (struct template_part){PART_TEXT, bytes_cut(text, 0, end)};
}

bool header_value_is_known(struct bytes value, struct bytes *unknown) {
    while (value.len > 0) {
        struct template_part part = next_part(&value);
        if (part.kind == PART_UNKNOWN) {
            *unknown = part.text;
            return false;
        }
    }
    return true;
}

bool header_value_varies(struct bytes value) {
    while (value.len > 0) {
        enum part_kind kind = next_part(&value).kind;
        if (kind == PART_ID || kind == PART_KEY)
            return true;
    }
    return false;
}

bool header_value_put(struct bytes value, const struct call *call, struct buf *out) {
    while (value.len > 0) {
        struct template_part part = next_part(&value);
        if (part.kind == PART_KEY && !call->key.ptr)
            return false;
        buf_bytes(out, part.kind == PART_ID    ? call->id
                       : part.kind == PART_KEY ? call->key
                                               : part.text);
    }
    return true;
}
