/* pool: a lock-free list of returned blocks, and a private list of the getting thread. */
#include "base/thread/pool.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/containers/list.h"
#include "base/memory.h"

enum {
    POOL_STEP = 512,          /* sizes are multiples of it, so that a block fits its next use */
    POOL_BLOCK_MAX = 4 << 10, /* larger blocks come from the heap and go back there */
    POOL_KEPT_MAX = 4096,     /* free blocks that are kept */
    POOL_LINE = 64,           /* size of a cache line */
};

/* Lets a sanitizer detect the use of a returned block. */
#ifdef __SANITIZE_ADDRESS__
enum { POOL_KEEPS = false };
#else
enum { POOL_KEEPS = true };
#endif

struct pool_block {
    struct pool *pool; /* NULL: not pooled */
    struct pool_block *next;
    size_t size;
    alignas(max_align_t) char data[];
};

struct pool {
    _Atomic(struct pool_block *) given; /* returned blocks, the last first; or `closed` */
    struct pool_block *kept;            /* blocks that the getting thread has taken from it … */
    size_t kept_count, out;             /* … their number, and the number in use */
    atomic_long left; /* in use after closing; negative while that is being counted */
    struct pool_block closed;
};

struct pool *pool_new(void) {
    struct pool *pool = memory_new(sizeof *pool);
    atomic_init(&pool->given, NULL);
    atomic_init(&pool->left, 0);
    return pool;
}

/* ---- the getting thread ---- */

static void keep(struct pool *pool, struct pool_block *block) {
    pool->out--;
    if (pool->kept_count == POOL_KEPT_MAX) {
        free(block);
        return;
    }
    block->next = pool->kept;
    pool->kept = block;
    pool->kept_count++;
}

static void take_given(struct pool *pool, struct pool_block *instead) {
    struct pool_block *next;
    for (struct pool_block *block = atomic_exchange(&pool->given, instead); block; block = next) {
        next = block->next;
        keep(pool, block);
    }
}

static struct pool_block *take_kept(struct pool *pool) {
    struct pool_block *block = pool->kept;
    if (block) {
        pool->kept = block->next;
        pool->kept_count--;
    }
    return block;
}

static void free_kept(struct pool *pool) {
    for (struct pool_block *block; (block = take_kept(pool));)
        free(block);
}

static struct pool_block *make(struct pool *pool, size_t size) {
    size_t whole = (size + POOL_STEP - 1) / POOL_STEP * POOL_STEP;
    struct pool_block *block = memory_grow(NULL, sizeof *block + whole);
    block->pool = pool;
    block->size = whole;
    return block;
}

/* The block was last used on another core: prefetch it, so that it is in the cache when it is
 * written. */
static void fetch(const struct pool_block *block) {
    for (size_t at = 0; block && at < block->size; at += POOL_LINE)
        __builtin_prefetch(block->data + at, 1);
}

/* A block that is too small is freed for a larger one: mostly, sizes are alike. */
static struct pool_block *get(struct pool *pool, size_t size) {
    if (!pool->kept)
        take_given(pool, NULL);
    struct pool_block *block = take_kept(pool);
    fetch(pool->kept);
    pool->out++;
    if (block && block->size >= size)
        return block;
    free(block);
    return make(pool, size);
}

void *pool_get(struct pool *pool, size_t size) {
    return (POOL_KEEPS && size <= POOL_BLOCK_MAX ? get(pool, size) : make(NULL, size))->data;
}

void pool_trim(struct pool *pool) {
    take_given(pool, NULL);
    free_kept(pool);
}

/* ---- any thread ---- */

static void put_closed(struct pool *pool, struct pool_block *block) {
    free(block);
    if (atomic_fetch_sub(&pool->left, 1) == 1)
        free(pool);
}

void pool_put(void *data) {
    struct pool_block *block = CONTAINER_OF(data, struct pool_block, data);
    struct pool *pool = block->pool;
    if (!pool) {
        free(block);
        return;
    }
    struct pool_block *first = atomic_load(&pool->given);
    do {
        if (first == &pool->closed) {
            put_closed(pool, block);
            return;
        }
        block->next = first;
    } while (!atomic_compare_exchange_weak(&pool->given, &first, block));
}

/* The last of the two, this call or the last block, frees the pool: blocks returned in between are
 * counted below 0. */
void pool_close(struct pool *pool) {
    take_given(pool, &pool->closed);
    free_kept(pool);
    long out = (long)pool->out;
    if (atomic_fetch_add(&pool->left, out) == -out)
        free(pool);
}
