/* buf: see the header. */
#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    BUF_FIRST = 256,     /* bytes of the first allocation, or the maximum if that is less */
    BUF_LARGE = 1 << 20, /* bytes; smaller allocations abort if there is no memory */
};

void buf_init_fixed(struct buf *b, void *memory, size_t size) {
    *b = (struct buf){.ptr = memory, .cap = size, .max = size};
}

void buf_init_heap(struct buf *b, size_t max) {
    *b = (struct buf){.max = max, .heap = true};
}

void buf_free(struct buf *b) {
    if (b->heap)
        free(b->ptr);
    *b = (struct buf){.max = b->max, .heap = b->heap};
}

void buf_clear(struct buf *b) {
    b->len = 0;
    b->overflow = b->no_memory = false;
}

static bool reserve(struct buf *b, size_t more) {
    assert(b->len <= b->cap && b->cap <= b->max);
    if (b->overflow)
        return false;
    if (more <= b->cap - b->len)
        return true;
    if (!b->heap || more > b->max - b->len) {
        b->overflow = true;
        return false;
    }
    size_t want = b->cap ? b->cap : b->max < BUF_FIRST ? b->max : BUF_FIRST;
    while (want - b->len < more)
        want = want > b->max / 2 ? b->max : want * 2;
    /* One byte more than the maximum leaves room for the NUL of buf_cstr and buf_take. */
    char *grown = want < BUF_LARGE ? memory_grow(b->ptr, want + 1) : memory_try(b->ptr, want + 1);
    b->overflow = b->no_memory = !grown;
    if (!grown)
        return false;
    b->ptr = grown;
    b->cap = want;
    return true;
}

char *buf_room(struct buf *b, size_t len) {
    if (!reserve(b, len))
        return NULL;
    char *room = b->ptr + b->len;
    b->len += len;
    return room;
}

void buf_put(struct buf *b, const void *data, size_t len) {
    if (len == 0)
        return;
    char *room = buf_room(b, len);
    if (room)
        memcpy(room, data, len);
}

void buf_bytes(struct buf *b, struct bytes text) {
    buf_put(b, text.ptr, text.len);
}

void buf_str(struct buf *b, const char *text) {
    buf_put(b, text, strlen(text));
}

void buf_char(struct buf *b, char c) {
    buf_put(b, &c, 1);
}

void buf_i64(struct buf *b, int64_t value) {
    char digits[24];
    size_t n = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--n] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        digits[--n] = '-';
    buf_put(b, digits + n, sizeof digits - n);
}

void buf_printf(struct buf *b, const char *format, ...) {
    char small[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    assert(n >= 0);
    if ((size_t)n < sizeof small) {
        buf_put(b, small, (size_t)n);
        return;
    }
    char *large = memory_new((size_t)n + 1);
    va_start(args, format);
    vsnprintf(large, (size_t)n + 1, format, args);
    va_end(args);
    buf_put(b, large, (size_t)n);
    free(large);
}

struct bytes buf_view(const struct buf *b) {
    return (struct bytes){b->ptr, b->len};
}

const char *buf_cstr(struct buf *b) {
    if (b->overflow || (!b->heap && b->len == b->cap))
        return "";
    if (b->heap && !b->ptr)
        return "";
    b->ptr[b->len] = '\0';
    return b->ptr;
}

char *buf_take(struct buf *b, size_t *len) {
    assert(b->heap);
    char *taken = b->ptr ? b->ptr : memory_new(1);
    taken[b->len] = '\0';
    if (len)
        *len = b->len;
    *b = (struct buf){.max = b->max, .heap = true};
    return taken;
}
