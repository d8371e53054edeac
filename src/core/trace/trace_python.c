/* trace_python: oldest frame first, the exception last. Of chained exceptions the last one is the
 * one that was raised; of an exception group it is the group itself, whose members are skipped. */
#include "core/trace/trace_language.h"

static const struct bytes foreign[] = {BYTES("site-packages/"), BYTES("dist-packages/"),
                                       BYTES("/lib/python"), BYTES("<frozen ")};

enum python_section { READING_NONE, READING_FRAMES, READING_MESSAGE };

struct python {
    struct trace *out;
    struct trace now; /* the one being read; *out is the last that was complete */
    struct bytes first;
    enum python_section reading;
    bool group;
    bool chained; /* the next traceback belongs to the same text */
    bool found;
};

static bool python_frame(struct bytes line, struct trace_frame *out) {
    struct bytes rest = bytes_trim(line);
    if (bytes_starts(rest, BYTES("| ")))
        rest = bytes_trim(bytes_cut(rest, 2, rest.len));
    if (!bytes_starts(rest, BYTES("File \"")))
        return false;
    rest = bytes_cut(rest, 6, rest.len);
    size_t end = bytes_find(rest, BYTES("\", line "));
    if (end == rest.len)
        return false;
    struct bytes where = bytes_cut(rest, end, rest.len);
    size_t in = bytes_find(where, BYTES(", in "));
    out->file = bytes_cut(rest, 0, end);
    out->function = bytes_cut(where, in + 5, where.len);
    out->in_app = !trace_mentions(out->file, foreign, sizeof foreign / sizeof *foreign);
    return true;
}

/* Exception groups draw a margin: "  + Exception Group …", "  | ExceptionGroup: …". */
static struct bytes without_margin(struct bytes line) {
    struct bytes rest = bytes_cut(line, trace_indent(line).len, line.len);
    if (bytes_starts(rest, BYTES("| ")) || bytes_starts(rest, BYTES("+ ")))
        return bytes_cut(rest, 2, rest.len);
    return line;
}

static bool is_start(struct bytes line) {
    return bytes_ends(line, BYTES("Traceback (most recent call last):"));
}

static bool is_chain(struct bytes line) {
    return bytes_starts(line, BYTES("The above exception was the direct cause of")) ||
           bytes_starts(line, BYTES("During handling of the above exception"));
}

static void start(struct python *p, struct bytes line) {
    p->now = (struct trace){0};
    p->group = bytes_find(line, BYTES("Exception Group")) < line.len;
    p->reading = READING_FRAMES;
    if (!p->chained)
        p->first = line;
    p->chained = false;
}

static void read_frames(struct python *p, struct bytes whole) {
    struct bytes line = p->group ? without_margin(whole) : whole;
    struct trace_frame frame;
    if (python_frame(line, &frame)) {
        trace_insert(&p->now, 0, frame);
        return;
    }
    if (line.len == 0 || line.ptr[0] == ' ' ||
        !trace_headline(line, &p->now.error_type, &p->now.error_message))
        return;
    trace_span(&p->now, p->first, whole);
    *p->out = p->now;
    p->found = true;
    p->reading = READING_MESSAGE;
}

/* A gRPC error says "<… of RPC that terminated with:" and its status in the line below. */
static void extend_message(struct trace *out, struct bytes line) {
    struct bytes *message = &out->error_message;
    if (bytes_ends(*message, BYTES("RPC that terminated with:")) &&
        bytes_starts(line, BYTES("\tstatus = StatusCode.")))
        message->len = (size_t)(line.ptr + line.len - message->ptr);
}

/* Lines after the exception up to an empty line belong to its message (or its group). */
static void read_message(struct python *p, struct bytes line) {
    if (line.len == 0) {
        p->reading = READING_NONE;
        return;
    }
    extend_message(p->out, line);
    trace_span(p->out, p->first, line);
}

static bool python_find(struct bytes text, struct trace *out) {
    struct python p = {.out = out};
    struct bytes line;
    while (bytes_line(&text, &line)) {
        bool member = p.group && p.reading == READING_MESSAGE && trace_indent(line).len;
        if (is_start(line) && !member)
            start(&p, line);
        else if (is_chain(line))
            p.chained = p.found;
        else if (p.reading == READING_FRAMES)
            read_frames(&p, line);
        else if (p.reading == READING_MESSAGE)
            read_message(&p, line);
    }
    return p.found;
}

const struct trace_language trace_python = {python_find, python_frame};
