#include "handler/text.h"

#include <string.h>

#include "base/buf.h"

#define REPLACEMENT BYTES("\xef\xbf\xbd")

/* Length of the character that stands at the front, or 0 when none does. */
static size_t character_length(struct bytes text) {
    unsigned char lead = (unsigned char)text.ptr[0];
    if (lead == 0)
        return 0;
    size_t len = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    return len <= text.len && bytes_is_utf8(bytes_cut(text, 0, len)) ? len : 0;
}

struct bytes text_safe(struct bytes text, struct arena *arena) {
    if (text.len == 0 || (bytes_is_utf8(text) && !memchr(text.ptr, '\0', text.len)))
        return text;
    struct buf out;
    buf_init_fixed(&out, arena_alloc(arena, text.len * REPLACEMENT.len),
                   text.len * REPLACEMENT.len);
    while (text.len > 0) {
        size_t len = character_length(text);
        buf_bytes(&out, len ? bytes_cut(text, 0, len) : REPLACEMENT);
        text = bytes_cut(text, len ? len : 1, text.len);
    }
    return buf_view(&out);
}
