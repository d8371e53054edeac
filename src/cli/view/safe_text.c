/* safe_text: see the header. */
#include "cli/view/safe_text.h"

#include <wchar.h>

struct range {
    uint32_t first, last;
};

/* C0, DEL and C1; line and paragraph separators; embeddings, overrides and isolates. */
static const struct range unfit[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff},
};

/* The length of the UTF-8 sequence at the start, and its code point; 1 and U+FFFD if invalid. */
static size_t next_point(struct bytes text, uint32_t *point) {
    static const unsigned char marks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned char first = (unsigned char)text.ptr[0];
    size_t len = bytes_utf8_front(text);
    if (len == 0) {
        *point = 0xfffd;
        return 1;
    }
    *point = first & marks[len];
    for (size_t i = 1; i < len; i++)
        *point = *point << 6 | ((unsigned char)text.ptr[i] & 0x3f);
    return len;
}

static bool is_fit(uint32_t point, size_t len) {
    if (point == 0xfffd && len == 1)
        return false;
    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
        if (point >= unfit[i].first && point <= unfit[i].last)
            return false;
    return true;
}

void text_put(struct buf *out, struct bytes text) {
    while (text.len > 0) {
        uint32_t point;
        size_t len = next_point(text, &point);
        if (is_fit(point, len))
            buf_put(out, text.ptr, len);
        else
            for (size_t i = 0; i < len; i++)
                buf_printf(out, "\\x%02x", (unsigned char)text.ptr[i]);
        text = bytes_cut(text, len, text.len);
    }
}

/* Tabs are common in traces and harmless except at the end of a line. */
static void put_line(struct buf *out, struct bytes line) {
    while (line.len > 0) {
        size_t tab = bytes_find(line, BYTES("\t"));
        text_put(out, bytes_cut(line, 0, tab));
        if (tab < line.len)
            buf_str(out, "    ");
        line = bytes_cut(line, tab + 1, line.len);
    }
}

void text_put_lines(struct buf *out, struct bytes text, size_t indent) {
    for (struct bytes line; bytes_line(&text, &line);) {
        buf_printf(out, "%*s", (int)indent, "");
        put_line(out, line);
        buf_char(out, '\n');
    }
}

static size_t point_width(uint32_t point) {
    int width = wcwidth((wchar_t)point);
    return width < 0 ? 1 : (size_t)width;
}

size_t text_width(struct bytes text) {
    size_t width = 0;
    while (text.len > 0) {
        uint32_t point;
        size_t len = next_point(text, &point);
        width += point_width(point);
        text = bytes_cut(text, len, text.len);
    }
    return width;
}

struct bytes text_clip(struct bytes text, size_t columns) {
    size_t end = 0, width = 0;
    while (end < text.len) {
        uint32_t point;
        size_t len = next_point(bytes_cut(text, end, text.len), &point);
        width += point_width(point);
        if (width > columns)
            break;
        end += len;
    }
    return bytes_cut(text, 0, end);
}
