/* trace: tries each language, and clips traces. */
#include "core/trace/trace.h"

#include <string.h>

#include "base/text/ascii.h"
#include "core/trace/trace_language.h"

static const struct trace_language *const languages[] = {&trace_python, &trace_java, &trace_node,
                                                         &trace_go, &trace_ruby};

enum { LANGUAGES = sizeof languages / sizeof *languages };

void trace_insert(struct trace *trace, size_t at, struct trace_frame frame) {
    if (at >= TRACE_FRAMES_MAX)
        return;
    if (trace->frame_count == TRACE_FRAMES_MAX)
        trace->frame_count--;
    memmove(&trace->frames[at + 1], &trace->frames[at],
            (trace->frame_count - at) * sizeof trace->frames[0]);
    trace->frames[at] = frame;
    trace->frame_count++;
}

void trace_span(struct trace *trace, struct bytes first, struct bytes last) {
    trace->text = (struct bytes){first.ptr, (size_t)(last.ptr + last.len - first.ptr)};
}

static bool in_name(char c) {
    return ascii_is_alnum(c) || c == '_' || c == '$' || c == '.' || c == '<' || c == '>' ||
           (unsigned char)c >= 0x80;
}

static bool is_name(struct bytes text) {
    if (text.len == 0 || ascii_is_digit(text.ptr[0]) || text.ptr[0] == '.' ||
        text.ptr[text.len - 1] == '.')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!in_name(text.ptr[i]))
            return false;
    return true;
}

bool trace_headline(struct bytes line, struct bytes *type, struct bytes *message) {
    size_t colon = bytes_find(line, BYTES(":"));
    struct bytes name = bytes_cut(line, 0, colon);
    struct bytes rest = bytes_cut(line, colon + 1, line.len);
    size_t code = bytes_find(name, BYTES(" ["));
    struct bytes bracketed = BYTES_NONE;
    if (code < name.len && name.ptr[name.len - 1] == ']') {
        bracketed = bytes_cut(name, code + 2, name.len - 1);
        name.len = code;
    }
    if (!is_name(name) || (rest.len && rest.ptr[0] != ' '))
        return false;
    *type = name;
    *message = bytes_trim(rest);
    if (message->len == 0) /* "AggregateError [ECONNREFUSED]:" */
        *message = bracketed;
    if (bytes_is(name, "DOMException") && is_name(bracketed)) /* "DOMException [TimeoutError]: …" */
        *type = bracketed;
    return true;
}

bool trace_mentions(struct bytes text, const struct bytes *marks, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes_find(text, marks[i]) < text.len)
            return true;
    return false;
}

struct bytes trace_indent(struct bytes line) {
    size_t n = 0;
    while (n < line.len && (line.ptr[n] == ' ' || line.ptr[n] == '\t'))
        n++;
    return bytes_cut(line, 0, n);
}

/* If several languages match, the trace that ends later is the cause of death. */
bool trace_find(struct bytes text, struct trace *out) {
    const char *latest = NULL;
    for (size_t i = 0; i < LANGUAGES; i++) {
        struct trace found = {0};
        if (!languages[i]->find(text, &found))
            continue;
        const char *end = found.text.ptr + found.text.len;
        if (latest && end <= latest)
            continue;
        latest = end;
        *out = found;
    }
    return latest != NULL;
}

static bool is_frame(struct bytes line) {
    struct trace_frame frame;
    for (size_t i = 0; i < LANGUAGES; i++)
        if (languages[i]->frame(line, &frame))
            return true;
    return false;
}

/* A window on the text that grows by whole lines, first down, then up. */
struct window {
    struct bytes text;
    size_t from, to;
    size_t frames;
};

static bool fits(const struct window *w, struct bytes line, bool frame) {
    return w->to - w->from + line.len <= OUTCOME_STACK_MAX &&
           (!frame || w->frames < OUTCOME_STACK_FRAMES_MAX);
}

static void grow_down(struct window *w) {
    while (w->to < w->text.len) {
        struct bytes rest = bytes_cut(w->text, w->to, w->text.len);
        struct bytes line = bytes_cut(rest, 0, bytes_find(rest, BYTES("\n")) + 1);
        bool frame = is_frame(line);
        if (!fits(w, line, frame))
            return;
        w->to += line.len;
        w->frames += frame;
    }
}

static size_t line_start(struct bytes text, size_t end) {
    const char *newline = end > 1 ? memrchr(text.ptr, '\n', end - 1) : NULL;
    return newline ? (size_t)(newline + 1 - text.ptr) : 0;
}

/* If stopped by the number of frames, it goes back to the start of its first frame: the lines above
 * are the source of a frame that is left out. */
static void grow_up(struct window *w) {
    size_t first_frame = w->from;
    while (w->from > 0) {
        size_t start = line_start(w->text, w->from);
        struct bytes line = bytes_cut(w->text, start, w->from);
        bool frame = is_frame(line);
        if (!fits(w, line, frame)) {
            if (frame && w->frames == OUTCOME_STACK_FRAMES_MAX)
                w->from = first_frame;
            return;
        }
        w->from = start;
        w->frames += frame;
        if (frame)
            first_frame = start;
    }
}

/* The headline (type and message) is always kept. Python prints its frames above it, other
 * languages below with the newest first: growing down and then up keeps the newest of either. Other
 * text keeps its end. */
struct bytes trace_tail(struct bytes text) {
    struct trace trace;
    size_t anchor = text.len;
    if (trace_find(text, &trace))
        anchor = (size_t)(trace.error_type.ptr - text.ptr) + 1;
    size_t start = line_start(text, anchor);
    struct window w = {text, start, start, 0};
    grow_down(&w);
    if (w.from == w.to) /* one line that is too long by itself */
        return bytes_clip(bytes_cut(text, start, text.len), OUTCOME_STACK_MAX);
    grow_up(&w);
    return bytes_cut(text, w.from, w.to);
}
