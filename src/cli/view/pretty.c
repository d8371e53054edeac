/* pretty: see the header. */
#include "cli/view/pretty.h"

#include <assert.h>

#include "cli/view/safe_text.h"

enum { STEP = 2, LINE_MAX_BYTES = 4096 };

struct pretty {
    struct buf *out;
    size_t lines; /* remaining */
    bool cut;
};

static void new_line(struct pretty *pretty, size_t indent) {
    if (pretty->lines == 0) {
        pretty->cut = true;
        return;
    }
    pretty->lines--;
    buf_printf(pretty->out, "\n%*s", (int)indent, "");
}

static void put_scalar(struct pretty *pretty, struct bytes text) {
    struct bytes clipped = bytes_clip(text, LINE_MAX_BYTES);
    text_put(pretty->out, clipped);
    if (clipped.len < text.len)
        buf_printf(pretty->out, "… (%zu bytes)", text.len);
}

/* Depth is bounded by JSON_DEPTH_MAX. */
static void put_value(struct pretty *pretty, struct json value, size_t indent) {
    bool object = value.type == JSON_OBJECT, first = true;
    if (!object && value.type != JSON_ARRAY) {
        put_scalar(pretty, value.text);
        return;
    }
    buf_char(pretty->out, object ? '{' : '[');
    for (struct json_walk w = json_walk(value); !pretty->cut && json_step(&w); first = false) {
        if (!first)
            buf_char(pretty->out, ',');
        new_line(pretty, indent + STEP);
        if (pretty->cut)
            return;
        if (object) {
            buf_char(pretty->out, '"');
            put_scalar(pretty, w.key);
            buf_str(pretty->out, "\": ");
        }
        put_value(pretty, w.value, indent + STEP);
    }
    if (!first && !pretty->cut)
        new_line(pretty, indent);
    if (!pretty->cut)
        buf_char(pretty->out, object ? '}' : ']');
}

static void put_cut(struct buf *out, size_t indent) {
    buf_printf(out, "\n%*s… (there is more; --json shows all of it)", (int)indent, "");
}

void pretty_json(struct buf *out, struct json value, size_t indent, size_t lines) {
    assert(lines > 0);
    struct pretty pretty = {out, lines > 0 ? lines - 1 : 0, false};
    buf_printf(out, "%*s", (int)indent, "");
    put_value(&pretty, value, indent);
    if (pretty.cut)
        put_cut(out, indent);
    buf_char(out, '\n');
}

void pretty_text(struct buf *out, struct bytes text, size_t indent, size_t lines) {
    struct bytes line;
    while (lines > 0 && bytes_line(&text, &line)) {
        struct bytes clipped = bytes_clip(line, LINE_MAX_BYTES);
        text_put_lines(out, clipped.len > 0 ? clipped : BYTES("\n"), indent);
        lines--;
    }
    if (text.len > 0)
        buf_printf(out, "%*s… (there is more; --json shows all of it)\n", (int)indent, "");
}
