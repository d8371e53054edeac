/* bytes: see the header. */
#include "base/bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/ascii.h"
#include "base/memory.h"

struct bytes bytes_of(const char *text) {
    return (struct bytes){text, text ? strlen(text) : 0};
}

bool bytes_eq(struct bytes a, struct bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool bytes_eq_nocase(struct bytes a, struct bytes b) {
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (ascii_lower(a.ptr[i]) != ascii_lower(b.ptr[i]))
            return false;
    return true;
}

bool bytes_is(struct bytes a, const char *text) {
    return bytes_eq(a, bytes_of(text));
}

int bytes_cmp(struct bytes a, struct bytes b) {
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared ? memcmp(a.ptr, b.ptr, shared) : 0;
    if (order)
        return order;
    return a.len == b.len ? 0 : (a.len < b.len ? -1 : 1);
}

bool bytes_starts(struct bytes text, struct bytes prefix) {
    return text.len >= prefix.len && bytes_eq((struct bytes){text.ptr, prefix.len}, prefix);
}

bool bytes_ends(struct bytes text, struct bytes suffix) {
    return text.len >= suffix.len &&
           bytes_eq((struct bytes){text.ptr + (text.len - suffix.len), suffix.len}, suffix);
}

size_t bytes_find(struct bytes text, struct bytes what) {
    if (what.len == 0)
        return 0;
    if (text.len < what.len)
        return text.len;
    const char *hit = memmem(text.ptr, text.len, what.ptr, what.len);
    return hit ? (size_t)(hit - text.ptr) : text.len;
}

bool bytes_has_nocase(struct bytes text, struct bytes what) {
    for (size_t i = 0; i + what.len <= text.len; i++)
        if (bytes_eq_nocase((struct bytes){text.ptr + i, what.len}, what))
            return true;
    return false;
}

struct bytes bytes_cut(struct bytes text, size_t from, size_t to) {
    if (to > text.len)
        to = text.len;
    if (from > to)
        from = to;
    return (struct bytes){text.ptr ? text.ptr + from : NULL, to - from};
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct bytes bytes_trim(struct bytes text) {
    size_t from = 0;
    size_t to = text.len;
    while (from < to && is_blank(text.ptr[from]))
        from++;
    while (to > from && is_blank(text.ptr[to - 1]))
        to--;
    return bytes_cut(text, from, to);
}

bool bytes_line(struct bytes *rest, struct bytes *line) {
    if (rest->len == 0)
        return false;
    size_t end = bytes_find(*rest, BYTES("\n"));
    *line = bytes_cut(*rest, 0, end);
    *rest = bytes_cut(*rest, end + 1, rest->len);
    if (line->len && line->ptr[line->len - 1] == '\r')
        line->len--;
    return true;
}

struct bytes bytes_clip(struct bytes text, size_t max) {
    if (text.len <= max)
        return text;
    size_t end = max;
    while (end > 0 && ((unsigned char)text.ptr[end] & 0xC0) == 0x80)
        end--;
    return bytes_cut(text, 0, end);
}

/* Backtracks to the last star only, which is enough for patterns of stars and letters. */
bool bytes_glob(struct bytes pattern, struct bytes text) {
    size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.len && ascii_lower(pattern.ptr[p]) == ascii_lower(text.ptr[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

size_t bytes_utf8_front(struct bytes text) {
    const unsigned char *s = (const unsigned char *)text.ptr;
    if (text.len == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || text.len < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

bool bytes_is_utf8(struct bytes text) {
    size_t n;
    while ((n = bytes_utf8_front(text)) > 0)
        text = (struct bytes){text.ptr + n, text.len - n};
    return text.len == 0;
}

/* C0, DEL and C1 are the control characters. */
bool bytes_is_printable(struct bytes text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool c1 = c == 0xc2 && i + 1 < text.len && (unsigned char)text.ptr[i + 1] < 0xa0;
        if (c < 0x20 || c == 0x7f || c1)
            return false;
    }
    return bytes_is_utf8(text);
}

static uint64_t spread(uint64_t h) {
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    return h ^ (h >> 33);
}

/* FNV-1a with a final mix, so that short keys spread over all 64 bits. */
uint64_t bytes_hash(struct bytes text) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.len; i++)
        h = (h ^ (unsigned char)text.ptr[i]) * 0x100000001b3u;
    return spread(h);
}

/* The rotation keeps differences in a word's top bits from being lost in the product. */
static uint64_t stir(uint64_t lane, uint64_t word) {
    lane ^= word;
    return (lane << 29 | lane >> 35) * 0x9e3779b97f4a7c15u;
}

static uint64_t word_at(const char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

enum { PRINT_WORD = sizeof(uint64_t), PRINT_LANES = 4, PRINT_BLOCK = PRINT_LANES * PRINT_WORD };

/* Multiplications have a latency: independent lanes are several times as fast. Unrolled by hand,
 * they stay in registers. */
static void stir_block(uint64_t lanes[PRINT_LANES], const char *block) {
    lanes[0] = stir(lanes[0], word_at(block));
    lanes[1] = stir(lanes[1], word_at(block + PRINT_WORD));
    lanes[2] = stir(lanes[2], word_at(block + 2 * PRINT_WORD));
    lanes[3] = stir(lanes[3], word_at(block + 3 * PRINT_WORD));
}

/* Less than a block. Copying it into one would stall on the store, which is most of the time for a
 * text as short as an id. */
static void stir_rest(uint64_t lanes[PRINT_LANES], struct bytes rest) {
    assert(rest.len < PRINT_BLOCK);
    uint64_t last = 0;
    if (rest.len >= PRINT_WORD)
        lanes[0] = stir(lanes[0], word_at(rest.ptr));
    if (rest.len >= 2 * PRINT_WORD)
        lanes[1] = stir(lanes[1], word_at(rest.ptr + PRINT_WORD));
    if (rest.len >= 3 * PRINT_WORD)
        lanes[2] = stir(lanes[2], word_at(rest.ptr + 2 * PRINT_WORD));
    for (size_t i = rest.len - rest.len % PRINT_WORD; i < rest.len; i++)
        last = last << 8 | (unsigned char)rest.ptr[i];
    lanes[3] = stir(lanes[3], last);
}

uint64_t bytes_print(struct bytes text) {
    uint64_t lanes[PRINT_LANES] = {1, 2, 3, 4};
    size_t whole = text.len - text.len % PRINT_BLOCK;
    for (size_t at = 0; at < whole; at += PRINT_BLOCK)
        stir_block(lanes, text.ptr + at);
    stir_rest(lanes, bytes_cut(text, whole, text.len));
    uint64_t all = spread(text.len ^ lanes[0]);
    all = spread(all ^ lanes[1]);
    all = spread(all ^ lanes[2]);
    return spread(all ^ lanes[3]);
}

bool bytes_u64(struct bytes text, uint64_t *out) {
    uint64_t value = 0;
    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!ascii_is_digit(text.ptr[i]))
            return false;
        uint64_t digit = (uint64_t)(text.ptr[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

char *bytes_try_dup(struct bytes text) {
    char *copy = memory_try(NULL, text.len + 1);
    if (copy && text.len)
        memcpy(copy, text.ptr, text.len);
    if (copy)
        copy[text.len] = '\0';
    return copy;
}

char *bytes_dup(struct bytes text) {
    char *copy = memory_new(text.len + 1);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}
