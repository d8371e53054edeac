/* arena: see the header. */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct arena_chunk {
    struct arena_chunk *next;
    alignas(max_align_t) char data[];
};

void arena_init_fixed(struct arena *a, void *memory, size_t size) {
    *a = (struct arena){.ptr = memory, .size = size};
}

void arena_init_heap(struct arena *a, size_t chunk_size) {
    *a = (struct arena){.chunk_size = chunk_size};
}

void arena_init_heap_in(struct arena *a, void *memory, size_t size, size_t chunk_size) {
    *a = (struct arena){.ptr = memory, .size = size, .chunk_size = chunk_size};
}

void arena_free(struct arena *a) {
    while (a->chunks) {
        struct arena_chunk *next = a->chunks->next;
        free(a->chunks);
        a->chunks = next;
    }
    *a = (struct arena){.chunk_size = a->chunk_size};
}

/* Not zeroed here; arena_alloc zeroes each piece. */
static void add_chunk(struct arena *a, struct arena_chunk *chunk, size_t want) {
    chunk->next = a->chunks;
    a->chunks = chunk;
    a->ptr = chunk->data;
    a->used = 0;
    a->size = want;
}

/* Padding up to the next aligned byte. */
static size_t padding(const struct arena *a) {
    assert(a->used <= a->size);
    size_t off = (size_t)((uintptr_t)(a->ptr + a->used) % alignof(max_align_t));
    return off ? alignof(max_align_t) - off : 0;
}

/* Not zeroed. */
static void *take(struct arena *a, size_t size) {
    if (size == 0)
        size = 1;
    size_t pad = a->ptr ? padding(a) : 0;
    if (!a->ptr || pad > a->size - a->used || size > a->size - a->used - pad) {
        if (a->chunk_size == 0)
            return NULL;
        size_t want = size > a->chunk_size ? size : a->chunk_size;
        add_chunk(a, memory_grow(NULL, sizeof(struct arena_chunk) + want), want);
        pad = 0;
    }
    char *room = a->ptr + a->used + pad;
    a->used += pad + size;
    return room;
}

void *arena_alloc(struct arena *a, size_t size) {
    void *room = take(a, size);
    return room ? memset(room, 0, size ? size : 1) : NULL;
}

void *arena_try(struct arena *a, size_t size) {
    if (a->chunk_size == 0 || size <= a->chunk_size)
        return take(a, size);
    struct arena_chunk *chunk = memory_try(NULL, sizeof *chunk + size);
    if (!chunk)
        return NULL;
    add_chunk(a, chunk, size);
    a->used = size;
    return chunk->data;
}

char *arena_cstr(struct arena *a, struct bytes text) {
    char *copy = take(a, text.len + 1);
    if (copy && text.len)
        memcpy(copy, text.ptr, text.len);
    if (copy)
        copy[text.len] = '\0';
    return copy;
}

struct bytes arena_dup(struct arena *a, struct bytes text) {
    char *copy = arena_cstr(a, text);
    return copy ? (struct bytes){copy, text.len} : BYTES_NONE;
}

struct bytes arena_join(struct arena *a, const struct bytes *texts, size_t count) {
    size_t len = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        len += texts[i].len;
    char *joined = take(a, len + 1);
    if (!joined)
        return BYTES_NONE;
    for (size_t i = 0; i < count; at += texts[i++].len)
        if (texts[i].len)
            memcpy(joined + at, texts[i].ptr, texts[i].len);
    joined[len] = '\0';
    return (struct bytes){joined, len};
}
