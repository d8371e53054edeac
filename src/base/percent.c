#include "base/percent.h"

static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool percent_decode(struct bytes text, struct arena *arena, struct bytes *out) {
    *out = text;
    if (bytes_find(text, BYTES("%")) == text.len)
        return true;
    char *decoded = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '%') {
            decoded[len++] = text.ptr[i];
            continue;
        }
        int high = text.len - i > 2 ? hex_value(text.ptr[i + 1]) : -1;
        int low = high < 0 ? -1 : hex_value(text.ptr[i + 2]);
        if (low < 0)
            return false;
        decoded[len++] = (char)(high * 16 + low);
        i += 2;
    }
    *out = (struct bytes){decoded, len};
    return true;
}
