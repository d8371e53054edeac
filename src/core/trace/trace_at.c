/* trace_at: a small state machine over the lines of a text. */
#include "core/trace/trace_at.h"

struct headline {
    struct bytes line, type, message;
    bool strong; /* certainly an exception */
    bool cause;
};

struct at_reading {
    const struct trace_at *language;
    struct trace *out;
    struct headline headline; /* seen, and no frame yet; line.ptr NULL: none */
    struct bytes first;       /* the first line of the trace */
    struct bytes indent;      /* of the frames being read */
    size_t section;           /* frames read since the last headline */
    bool reading;
};

static bool ends_like_an_exception(struct bytes type) {
    return bytes_ends(type, BYTES("Error")) || bytes_ends(type, BYTES("Exception"));
}

/* PostgreSQL's client for Node calls its class "error". */
static bool is_class(struct bytes type) {
    if (bytes_is(type, "error"))
        return true;
    size_t last = type.len;
    while (last > 0 && type.ptr[last - 1] != '.')
        last--;
    return last < type.len && type.ptr[last] >= 'A' && type.ptr[last] <= 'Z';
}

static struct bytes after_opening(const struct trace_at *language, struct bytes line,
                                  bool *opened) {
    for (size_t i = 0; i < language->opening_count; i++) {
        if (!bytes_starts(line, language->openings[i]))
            continue;
        *opened = true;
        line = bytes_cut(line, language->openings[i].len, line.len);
        if (line.len && line.ptr[0] == '"') { /* the name of a thread */
            struct bytes rest = bytes_cut(line, 1, line.len);
            line = bytes_trim(bytes_cut(rest, bytes_find(rest, BYTES("\"")) + 1, rest.len));
        }
    }
    return line;
}

/* How long the words are that introduce a cause here; 0: there are none. */
static size_t cause_words(const struct trace_at *language, struct bytes trimmed) {
    for (size_t i = 0; i < language->cause_count; i++)
        if (bytes_starts(trimmed, language->causes[i]))
            return language->causes[i].len;
    return 0;
}

static bool read_headline(const struct trace_at *language, struct bytes line,
                          struct headline *out) {
    struct bytes rest = bytes_trim(line);
    size_t words = cause_words(language, rest);
    *out = (struct headline){.line = line, .cause = words > 0};
    bool opened = out->cause;
    if (out->cause)
        rest = bytes_trim(bytes_cut(rest, words, rest.len));
    else
        rest = after_opening(language, line, &opened);
    if (!trace_headline(rest, &out->type, &out->message) || !is_class(out->type))
        return false;
    out->strong = opened || ends_like_an_exception(out->type);
    bool bare = out->type.ptr + out->type.len == rest.ptr + rest.len;
    return !bare || out->strong;
}

/* A message may have several lines, one of which may look like a weak headline: a strong one waits
 * for its frames. */
static void note_headline(struct at_reading *r, struct bytes line) {
    struct headline seen;
    if (read_headline(r->language, line, &seen) && (seen.strong || !r->headline.strong))
        r->headline = seen;
}

static void open_section(struct at_reading *r, struct bytes frame_line) {
    if (!r->reading || !r->headline.cause) {
        *r->out = (struct trace){0};
        r->first = r->headline.line;
    }
    r->out->error_type = r->headline.type;
    r->out->error_message = r->headline.message;
    r->indent = trace_indent(frame_line);
    r->section = 0;
    r->reading = true;
    r->headline = (struct headline){0};
}

/* "... 12 more" · "... 4 lines matching cause stack trace ..." */
static bool is_ellipsis(struct bytes line) {
    return bytes_starts(bytes_trim(line), BYTES("... "));
}

static void read_frame(struct at_reading *r, struct bytes line, struct trace_frame frame) {
    if (r->headline.line.ptr)
        open_section(r, line);
    if (!r->reading)
        return;
    trace_span(r->out, r->first, line);
    /* Deeper than the first: frames of a suppressed exception. */
    if (trace_indent(line).len <= r->indent.len)
        trace_insert(r->out, r->section++, frame);
}

static bool may_be_headline(const struct trace_at *language, struct bytes line) {
    return trace_indent(line).len == 0 ||
           (language->cause_indented && cause_words(language, bytes_trim(line)) > 0);
}

bool trace_at_find(const struct trace_at *language, struct bytes text, struct trace *out) {
    struct at_reading r = {.language = language, .out = out};
    struct bytes line;
    bool found = false;
    while (bytes_line(&text, &line)) {
        struct trace_frame frame;
        if (language->frame(line, &frame)) {
            read_frame(&r, line, frame);
            found = found || r.reading;
        } else if (is_ellipsis(line)) {
            if (r.reading)
                trace_span(out, r.first, line);
        } else if (may_be_headline(language, line)) {
            note_headline(&r, line);
            r.reading = r.reading && r.headline.cause;
        }
    }
    return found;
}
