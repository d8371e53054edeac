/* path: see the header. */
#include "cli/path.h"

#include <assert.h>
#include <string.h>

#include "base/text/ascii.h"

void path_init(struct path *path, const char *start) {
    *path = (struct path){0};
    buf_init_heap(&path->text, PATH_MAX_LEN);
    buf_str(&path->text, start);
}

void path_free(struct path *path) {
    buf_free(&path->text);
}

/* RFC 3986: everything but the unreserved characters is escaped. */
static void put_escaped(struct buf *out, const char *text) {
    for (; *text; text++) {
        if (ascii_is_alnum(*text) || strchr("-._~", *text))
            buf_char(out, *text);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
    }
}

void path_segment(struct path *path, const char *text) {
    assert(!path->asked);
    buf_char(&path->text, '/');
    put_escaped(&path->text, text);
}

void path_argument(struct path *path, const char *name, const char *value) {
    assert(name);
    if (!value)
        return;
    buf_printf(&path->text, "%c%s=", path->asked ? '&' : '?', name);
    put_escaped(&path->text, value);
    path->asked = true;
}

const char *path_text(struct path *path) {
    return buf_cstr(&path->text);
}
