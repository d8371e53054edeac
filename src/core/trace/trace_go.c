/* trace_go: "panic: …" or "fatal error: …", then the stack of the goroutine that died: a line with
 * the function, a line with a tab and the file. The stacks of other goroutines are skipped. */
#include "core/trace/trace_language.h"

static const struct bytes foreign_files[] = {BYTES("/usr/local/go/src/"), BYTES("/usr/lib/go"),
                                             BYTES("/libexec/src/"), BYTES("/pkg/mod/"),
                                             BYTES("/vendor/")};
static const struct bytes openings[] = {BYTES("panic: "), BYTES("fatal error: ")};

enum go_section { READING_NONE, READING_HEADLINE, READING_FRAMES };

struct go {
    struct trace *out;
    struct trace now;
    struct bytes first;
    struct bytes function; /* of the line above */
    enum go_section reading;
    bool found;
};

static bool go_frame(struct bytes line, struct trace_frame *out) {
    if (line.len == 0 || line.ptr[0] != '\t')
        return false;
    struct bytes place = bytes_trim(line);
    size_t end = bytes_find(place, BYTES(".go:")) + 3;
    if (end > place.len)
        end = bytes_find(place, BYTES(".s:")) + 2;
    if (end > place.len)
        return false;
    out->function = BYTES_NONE;
    out->file = bytes_cut(place, 0, end);
    out->in_app =
        !trace_mentions(out->file, foreign_files, sizeof foreign_files / sizeof *foreign_files);
    return true;
}

/* "main.(*Order).price(0xc000010000)" → "main.(*Order).price". */
static struct bytes function_name(struct bytes line) {
    struct bytes name = line;
    if (bytes_starts(name, BYTES("created by "))) {
        name = bytes_cut(name, 11, name.len);
        return bytes_cut(name, 0, bytes_find(name, BYTES(" in goroutine ")));
    }
    for (size_t i = name.len; i > 0; i--)
        if (name.ptr[i - 1] == '(')
            return bytes_cut(name, 0, i - 1);
    return name;
}

/* "runtime error: index out of range": the runtime's own panics are a type of their own. */
static bool read_headline(struct bytes line, struct trace *out) {
    static const struct bytes runtime = BYTES("runtime error: ");
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        if (!bytes_starts(line, openings[i]))
            continue;
        struct bytes message = bytes_cut(line, openings[i].len, line.len);
        size_t skip = bytes_starts(message, runtime) ? runtime.len : 0;
        out->error_type =
            skip ? bytes_cut(message, 0, skip - 2) : bytes_cut(line, 0, openings[i].len - 2);
        out->error_message = bytes_trim(bytes_cut(message, skip, message.len));
        return true;
    }
    return false;
}

static void read_frame(struct go *g, struct bytes line) {
    struct trace_frame frame;
    if (line.len == 0) {
        g->reading = READING_NONE;
        return;
    }
    if (!go_frame(line, &frame)) {
        g->function = function_name(line);
        return;
    }
    frame.function = g->function;
    frame.in_app = frame.in_app && !bytes_starts(frame.function, BYTES("runtime.")) &&
                   !bytes_is(frame.function, "panic");
    trace_insert(&g->now, g->now.frame_count, frame);
    trace_span(&g->now, g->first, line);
    *g->out = g->now;
    g->found = true;
}

static void read_line(struct go *g, struct bytes line) {
    struct trace headline = {0};
    if (read_headline(line, &headline)) {
        g->now = headline;
        g->first = line;
        g->reading = READING_HEADLINE;
    } else if (g->reading == READING_HEADLINE && bytes_starts(line, BYTES("\tpanic: "))) {
        read_headline(bytes_cut(line, 1, line.len), &g->now); /* a panic while panicking */
    } else if (g->reading == READING_HEADLINE && bytes_starts(line, BYTES("goroutine "))) {
        g->reading = READING_FRAMES;
    } else if (g->reading == READING_FRAMES) {
        read_frame(g, line);
    }
}

static bool go_find(struct bytes text, struct trace *out) {
    struct go g = {.out = out};
    struct bytes line;
    while (bytes_line(&text, &line))
        read_line(&g, line);
    return g.found;
}

const struct trace_language trace_go = {go_find, go_frame};
