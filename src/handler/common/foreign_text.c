/* foreign_text: see the header. */
#include "handler/common/foreign_text.h"

#include <string.h>

#include "base/buf.h"

#define REPLACEMENT BYTES("\xef\xbf\xbd")

struct bytes text_safe(struct bytes text, struct arena *arena) {
    if (text.len == 0 || (bytes_is_utf8(text) && !memchr(text.ptr, '\0', text.len)))
        return text;
    struct buf out;
    buf_init_fixed(&out, arena_alloc(arena, text.len * REPLACEMENT.len),
                   text.len * REPLACEMENT.len);
    while (text.len > 0) {
        size_t len = text.ptr[0] ? bytes_utf8_front(text) : 0;
        buf_bytes(&out, len ? bytes_cut(text, 0, len) : REPLACEMENT);
        text = bytes_cut(text, len ? len : 1, text.len);
    }
    return buf_view(&out);
}
