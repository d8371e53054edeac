/* memory: see the header for the reserve. */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static atomic_bool reserving;
static _Atomic(void *) reserve;

void memory_reserve(void) {
    void *kept = malloc(MEMORY_RESERVE);
    atomic_store(&reserve, kept);
    atomic_store(&reserving, kept != NULL);
}

/* False: there is no reserve. */
static bool give_up_reserve(void) {
    void *kept = atomic_exchange(&reserve, NULL);
    free(kept);
    if (kept)
        fprintf(stderr, "impound: out of memory: large requests are refused until there is more\n");
    return kept != NULL;
}

/* The reserve has precedence over large allocations: if it was given up, it is restored first. */
bool memory_has_reserve(void) {
    void *none = NULL;
    if (!atomic_load(&reserving) || atomic_load(&reserve))
        return true;
    void *kept = malloc(MEMORY_RESERVE);
    if (kept && !atomic_compare_exchange_strong(&reserve, &none, kept))
        free(kept); /* another thread restored it */
    return kept != NULL;
}

static void *or_abort(void *got, size_t size) {
    if (got || size == 0)
        return got;
    fprintf(stderr, "impound: out of memory (%zu bytes wanted)\n", size);
    abort();
}

void *memory_array(size_t count, size_t size) {
    void *got = calloc(count ? count : 1, size ? size : 1);
    if (!got) {
        give_up_reserve(); /* or another thread just did */
        got = calloc(count ? count : 1, size ? size : 1);
    }
    return or_abort(got, count);
}

void *memory_new(size_t size) {
    return memory_array(1, size);
}

void *memory_grow(void *old, size_t size) {
    void *got = realloc(old, size ? size : 1);
    if (!got) {
        give_up_reserve();
        got = realloc(old, size ? size : 1);
    }
    return or_abort(got, size);
}

void *memory_try(void *old, size_t size) {
    return memory_has_reserve() ? realloc(old, size ? size : 1) : NULL;
}

void *memory_try_pages(size_t size) {
    return memory_has_reserve() ? aligned_alloc(MEMORY_PAGE, size) : NULL;
}

void *memory_pages(size_t size) {
    void *got = aligned_alloc(MEMORY_PAGE, size);
    if (!got) {
        give_up_reserve();
        got = aligned_alloc(MEMORY_PAGE, size);
    }
    return or_abort(got, size);
}

void memory_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
