/* trace_ruby: "file.rb:3:in `m': message (Type)" with "from file.rb:7:in `n'" lines under it, or,
 * as Ruby 2.5 to 2.7 print to a terminal, "1: from …" lines above it. Causes are printed last, so
 * that the last one read is the innermost. */
#include "base/text/ascii.h"
#include "core/trace/trace_language.h"

static const struct bytes foreign[] = {BYTES("/gems/"), BYTES("/lib/ruby/"), BYTES("<internal:")};

struct ruby {
    struct trace *out;
    struct trace above; /* frames of the upside-down order, waiting for their headline */
    struct bytes first;
    struct bytes above_first; /* "Traceback …"; NULL: not that order */
    bool found;
    bool following; /* "from" lines belong to *out */
};

/* "file.rb:3:in `m'", and what follows it. */
static bool read_place(struct bytes text, struct trace_frame *out, struct bytes *rest) {
    size_t in = bytes_find(text, BYTES(":in "));
    size_t name = in + 5;
    if (in == text.len || name > text.len ||
        (text.ptr[name - 1] != '`' && text.ptr[name - 1] != '\''))
        return false;
    struct bytes place = bytes_cut(text, 0, in);
    size_t line = place.len;
    while (line > 0 && ascii_is_digit(place.ptr[line - 1]))
        line--;
    struct bytes quoted = bytes_cut(text, name, text.len);
    size_t end = bytes_find(quoted, BYTES("'"));
    if (line < 2 || line == place.len || place.ptr[line - 1] != ':' || end == quoted.len)
        return false;
    out->file = bytes_cut(place, 0, line - 1);
    out->function = bytes_cut(quoted, 0, end);
    out->in_app = !trace_mentions(out->file, foreign, sizeof foreign / sizeof *foreign);
    *rest = bytes_cut(quoted, end + 1, quoted.len);
    return true;
}

/* The number of "12: from …", which only the upside-down order has. */
static struct bytes without_number(struct bytes line) {
    size_t n = 0;
    while (n < line.len && ascii_is_digit(line.ptr[n]))
        n++;
    return n && bytes_starts(bytes_cut(line, n, line.len), BYTES(": "))
               ? bytes_cut(line, n + 2, line.len)
               : line;
}

static bool ruby_frame(struct bytes line, struct trace_frame *out) {
    struct bytes rest = without_number(bytes_trim(line));
    struct bytes nothing;
    return trace_indent(line).len && bytes_starts(rest, BYTES("from ")) &&
           read_place(bytes_cut(rest, 5, rest.len), out, &nothing);
}

/* "JSON::ParserError" */
static bool is_class(struct bytes name) {
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!ascii_is_alnum(c) && c != '_' && c != ':' && (unsigned char)c < 0x80)
            return false;
    }
    return name.len > 0 && (ascii_is_letter(name.ptr[0]) || (unsigned char)name.ptr[0] >= 0x80);
}

/* ": message (Type)" */
static bool read_message(struct bytes rest, struct trace *out) {
    rest = bytes_trim(rest);
    if (!bytes_starts(rest, BYTES(": ")) || !bytes_ends(rest, BYTES(")")))
        return false;
    size_t open = rest.len;
    while (open > 0 && rest.ptr[open - 1] != '(')
        open--;
    if (open < 2)
        return false;
    out->error_message = bytes_trim(bytes_cut(rest, 2, open - 1));
    out->error_type = bytes_cut(rest, open, rest.len - 1);
    return is_class(out->error_type);
}

static bool read_headline(struct ruby *r, struct bytes line) {
    struct trace headline = r->above;
    struct trace_frame frame;
    struct bytes rest;
    if (!read_place(line, &frame, &rest) || !read_message(rest, &headline))
        return false;
    if (!r->following)
        r->first = r->above.frame_count ? r->above_first : line;
    trace_insert(&headline, 0, frame);
    *r->out = headline;
    trace_span(r->out, r->first, line);
    r->above.frame_count = 0;
    r->above_first = BYTES_NONE;
    r->found = r->following = true;
    return true;
}

static void read_frame(struct ruby *r, struct bytes line, struct trace_frame frame) {
    if (r->following) {
        trace_insert(r->out, r->out->frame_count, frame);
        trace_span(r->out, r->first, line);
    } else if (r->above_first.ptr) {
        trace_insert(&r->above, 0, frame);
    }
}

static bool ruby_find(struct bytes text, struct trace *out) {
    struct ruby r = {.out = out};
    struct bytes line;
    while (bytes_line(&text, &line)) {
        struct trace_frame frame;
        if (bytes_starts(line, BYTES("Traceback (most recent call last)"))) {
            r.above = (struct trace){0};
            r.above_first = line;
            r.following = false;
        } else if (ruby_frame(line, &frame)) {
            read_frame(&r, line, frame);
        } else if (!read_headline(&r, line) && r.following && r.out->frame_count > 1) {
            r.following = false; /* something else was printed after the trace */
        }
    }
    return r.found;
}

const struct trace_language trace_ruby = {ruby_find, ruby_frame};
