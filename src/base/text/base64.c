/* base64: see the header. */
#include "base/text/base64.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct bytes data, struct buf *out) {
    for (size_t i = 0; i < data.len; i += 3) {
        struct bytes three = bytes_cut(data, i, i + 3);
        unsigned bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < three.len ? (unsigned char)three.ptr[k] : 0);
        char four[4] = {alphabet[bits >> 18], alphabet[bits >> 12 & 63],
                        three.len > 1 ? alphabet[bits >> 6 & 63] : '=',
                        three.len > 2 ? alphabet[bits & 63] : '='};
        buf_put(out, four, sizeof four);
    }
}

static int sextet(char c) {
    const char *hit = c ? strchr(alphabet, c) : NULL;
    return hit ? (int)(hit - alphabet) : -1;
}

bool base64_decode(struct bytes text, struct buf *out) {
    if (text.len % 4 != 0)
        return false;
    for (size_t i = 0; i < text.len; i += 4) {
        const char *p = text.ptr + i;
        bool last = i + 4 == text.len;
        size_t pad = last ? (size_t)(p[3] == '=') + (size_t)(p[3] == '=' && p[2] == '=') : 0;
        unsigned bits = 0;
        for (size_t k = 0; k < 4; k++) {
            int six = k >= 4 - pad ? 0 : sextet(p[k]);
            if (six < 0)
                return false;
            bits = bits << 6 | (unsigned)six;
        }
        char three[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
        buf_put(out, three, 3 - pad);
    }
    return !out->overflow;
}
