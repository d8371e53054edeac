#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static void *or_abort(void *got, size_t size) {
    if (got || size == 0)
        return got;
    fprintf(stderr, "impound: out of memory (%zu bytes wanted)\n", size);
    abort();
}

void *memory_new(size_t size) {
    return or_abort(calloc(1, size ? size : 1), size);
}

void *memory_array(size_t count, size_t size) {
    return or_abort(calloc(count ? count : 1, size ? size : 1), count);
}

void *memory_grow(void *old, size_t size) {
    return or_abort(realloc(old, size ? size : 1), size);
}

void *memory_try(void *old, size_t size) {
    return realloc(old, size ? size : 1);
}

void *memory_try_pages(size_t size) {
    return aligned_alloc(MEMORY_PAGE, size);
}

void *memory_pages(size_t size) {
    return or_abort(memory_try_pages(size), size);
}

void memory_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
