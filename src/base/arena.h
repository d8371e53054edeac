/* arena: many small allocations that are freed together.
 *
 * arena_init_fixed hands out the caller's memory and never allocates (so core may use it) and gives
 * NULL when it is used up; arena_init_heap adds chunks as needed, aborts only when memory is out,
 * and frees all of them in arena_free. What it hands out is zeroed and aligned for any type. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/bytes.h"

struct arena_chunk;

struct arena {
    char *ptr;
    size_t used;
    size_t size;
    struct arena_chunk *chunks; /* heap arenas only */
    size_t chunk_size;          /* 0: fixed */
};

void arena_init_fixed(struct arena *a, void *memory, size_t size);
void arena_init_heap(struct arena *a, size_t chunk_size);
/* The same, using the caller's memory first, which stays the caller's. */
void arena_init_heap_in(struct arena *a, void *memory, size_t size, size_t chunk_size);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t size);
/* The same for large blocks; not zeroed. NULL: no memory. */
void *arena_try(struct arena *a, size_t size);
/* A copy followed by a NUL; BYTES_NONE if a fixed arena is used up. */
struct bytes arena_dup(struct arena *a, struct bytes text);
/* The same for several texts, joined. */
struct bytes arena_join(struct arena *a, const struct bytes *texts, size_t count);
char *arena_cstr(struct arena *a, struct bytes text);

#endif
