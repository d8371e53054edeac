/* output_tail: a ring buffer. See the header. */
#include "handler/exec/output_tail.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void tail_put(struct tail *tail, struct bytes text) {
    if (text.len == 0)
        return;
    if (!tail->ring)
        tail->ring = memory_new(TAIL_MAX);
    if (text.len > TAIL_MAX)
        text = bytes_cut(text, text.len - TAIL_MAX, text.len);
    size_t to_edge = TAIL_MAX - tail->end;
    size_t first = text.len < to_edge ? text.len : to_edge;
    memcpy(tail->ring + tail->end, text.ptr, first);
    memcpy(tail->ring, text.ptr + first, text.len - first);
    tail->end = (tail->end + text.len) % TAIL_MAX;
    tail->len = tail->len + text.len < TAIL_MAX ? tail->len + text.len : TAIL_MAX;
}

struct bytes tail_text(const struct tail *tail, struct arena *arena) {
    assert(tail->len <= TAIL_MAX && tail->end < TAIL_MAX);
    if (tail->len == 0)
        return BYTES_NONE;
    char *text = arena_alloc(arena, tail->len);
    size_t begin = (tail->end + TAIL_MAX - tail->len) % TAIL_MAX;
    size_t to_edge = TAIL_MAX - begin;
    size_t first = tail->len < to_edge ? tail->len : to_edge;
    memcpy(text, tail->ring + begin, first);
    memcpy(text + first, tail->ring, tail->len - first);
    return (struct bytes){text, tail->len};
}

void tail_clear(struct tail *tail) {
    tail->end = tail->len = 0;
}

void tail_free(struct tail *tail) {
    free(tail->ring);
    *tail = (struct tail){0};
}
