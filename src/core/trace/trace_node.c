/* trace_node: "at function (file:line:column)" or "at file:line:column". The source excerpt that
 * Node prints above the headline is skipped. */
#include "base/text/ascii.h"
#include "core/trace/trace_at.h"

static const struct bytes foreign[] = {BYTES("node:"), BYTES("node_modules/"), BYTES("internal/"),
                                       BYTES("<anonymous>"), BYTES("native")};

/* Removes ":12" from the end. */
static bool drop_number(struct bytes *place) {
    size_t end = place->len;
    while (end > 0 && ascii_is_digit(place->ptr[end - 1]))
        end--;
    if (end == place->len || end == 0 || place->ptr[end - 1] != ':')
        return false;
    place->len = end - 1;
    return true;
}

static bool node_place(struct bytes place, struct trace_frame *out) {
    out->file = place;
    bool numbered = drop_number(&out->file);
    if (numbered)
        drop_number(&out->file);
    out->in_app = !trace_mentions(out->file, foreign, sizeof foreign / sizeof *foreign);
    return numbered || bytes_is(place, "<anonymous>") || bytes_is(place, "native");
}

static bool node_frame(struct bytes line, struct trace_frame *out) {
    struct bytes rest = bytes_trim(line);
    if (!bytes_starts(rest, BYTES("at ")) || trace_indent(line).len == 0)
        return false;
    rest = bytes_cut(rest, 3, rest.len);
    if (bytes_ends(rest, BYTES(" {"))) /* properties of the error follow */
        rest.len -= 2;
    if (bytes_starts(rest, BYTES("async ")))
        rest = bytes_cut(rest, 6, rest.len);
    out->function = BYTES_NONE;
    if (!bytes_ends(rest, BYTES(")")))
        return node_place(rest, out);
    size_t open = bytes_find(rest, BYTES(" ("));
    out->function = bytes_cut(rest, 0, open);
    return open < rest.len && node_place(bytes_cut(rest, open + 2, rest.len - 1), out);
}

static const struct bytes openings[] = {BYTES("Uncaught "), BYTES("(in promise) "),
                                        BYTES("Unhandled rejection "), BYTES("<ref *1> ")};

/* The second is an ordinary property: fetch of Node 18 sets it so. */
static const struct bytes causes[] = {BYTES("[cause]:"), BYTES("cause:")};

static bool node_find(struct bytes text, struct trace *out) {
    static const struct trace_at node = {node_frame, causes,   sizeof causes / sizeof *causes,
                                         true,       openings, sizeof openings / sizeof *openings};
    return trace_at_find(&node, text, out);
}

const struct trace_language trace_node = {node_find, node_frame};
