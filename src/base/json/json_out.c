/* The writing half of json.h. */
#include <math.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/json/json.h"

struct json_out json_out(struct buf *buf) {
    return (struct json_out){buf, false};
}

static void separate(struct json_out *out) {
    if (out->comma)
        buf_char(out->buf, ',');
    out->comma = true;
}

void json_open(struct json_out *out, char bracket) {
    separate(out);
    buf_char(out->buf, bracket);
    out->comma = false;
}

void json_close(struct json_out *out, char bracket) {
    buf_char(out->buf, bracket);
    out->comma = true;
}

static void put_control(struct buf *buf, char c) {
    static const char codes[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
    const char *named = c ? strchr(codes, c) : NULL;
    if (named) {
        buf_char(buf, '\\');
        buf_char(buf, letters[named - codes]);
    } else {
        static const char hex[] = "0123456789abcdef";
        buf_str(buf, "\\u00");
        buf_char(buf, hex[(unsigned char)c >> 4]);
        buf_char(buf, hex[c & 15]);
    }
}

static bool needs_no_escape(struct bytes text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f)
            return false;
    }
    return true;
}

/* Nearly every text is plain ASCII and is copied whole. */
static void put_plain(struct buf *buf, struct bytes text) {
    char *at = buf_room(buf, text.len + 2);
    if (!at)
        return;
    at[0] = '"';
    memcpy(at + 1, text.ptr, text.len);
    at[text.len + 1] = '"';
}

static void put_quoted(struct buf *buf, struct bytes text) {
    if (text.len > 0 && needs_no_escape(text)) {
        put_plain(buf, text);
        return;
    }
    buf_char(buf, '"');
    size_t plain = 0; /* start of the run that needs no escape */
    for (size_t i = 0; i < text.len;) {
        unsigned char c = (unsigned char)text.ptr[i];
        size_t run = c < 0x80 ? 1 : bytes_utf8_front(bytes_cut(text, i, text.len));
        if (run > 1 || (run == 1 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)) {
            i += run;
            continue;
        }
        buf_put(buf, text.ptr + plain, i - plain);
        if (run == 0)
            buf_str(buf, "\xEF\xBF\xBD");
        else
            put_control(buf, (char)c);
        plain = ++i;
    }
    buf_put(buf, text.ptr + plain, text.len - plain);
    buf_char(buf, '"');
}

void json_key_bytes(struct json_out *out, struct bytes key) {
    separate(out);
    put_quoted(out->buf, key);
    buf_char(out->buf, ':');
    out->comma = false;
}

void json_key(struct json_out *out, const char *key) {
    json_key_bytes(out, bytes_of(key));
}

void json_put(struct json_out *out, struct bytes text) {
    if (!text.ptr) {
        json_put_null(out);
        return;
    }
    separate(out);
    put_quoted(out->buf, text);
}

void json_put_str(struct json_out *out, const char *text) {
    json_put(out, bytes_of(text));
}

void json_put_i64(struct json_out *out, int64_t value) {
    separate(out);
    buf_i64(out->buf, value);
}

void json_put_double(struct json_out *out, double value) {
    separate(out);
    if (isfinite(value))
        buf_printf(out->buf, "%.6g", value);
    else
        buf_str(out->buf, "null");
}

void json_put_bool(struct json_out *out, bool value) {
    separate(out);
    buf_str(out->buf, value ? "true" : "false");
}

void json_put_null(struct json_out *out) {
    separate(out);
    buf_str(out->buf, "null");
}

void json_put_raw(struct json_out *out, struct bytes json) {
    separate(out);
    buf_bytes(out->buf, json);
}

void json_put_base64(struct json_out *out, struct bytes data) {
    separate(out);
    buf_char(out->buf, '"');
    base64_encode(data, out->buf);
    buf_char(out->buf, '"');
}
