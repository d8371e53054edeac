#include "base/pool.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/memory.h"

enum {
    POOL_STEP = 512,          /* sizes are multiples of it, so that one block fits the next use */
    POOL_BLOCK_MAX = 4 << 10, /* what is larger comes from the heap and goes back there */
    POOL_KEPT_MAX = 4096,     /* blocks that wait to be used again */
    POOL_LINE = 64,           /* bytes that a processor fetches at a time */
};

/* A sanitizer is to see who uses a block that was given back. */
#ifdef __SANITIZE_ADDRESS__
enum { POOL_KEEPS = false };
#else
enum { POOL_KEEPS = true };
#endif

struct pool_block {
    struct pool *pool; /* NULL: it is not kept */
    struct pool_block *next;
    size_t size;
    alignas(max_align_t) char data[];
};

struct pool {
    _Atomic(struct pool_block *) given; /* back, by anybody, the last first; or `closed` */
    struct pool_block *kept;            /* what the one that gets has taken of them … */
    size_t kept_count, out;             /* … how many these are, and how many are in use */
    atomic_long left; /* in use once it is closed; below 0 while that is being counted */
    struct pool_block closed;
};

struct pool *pool_new(void) {
    struct pool *pool = memory_new(sizeof *pool);
    atomic_init(&pool->given, NULL);
    atomic_init(&pool->left, 0);
    return pool;
}

/* ---- the one that gets ---- */

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

/* Whoever used the block last did so elsewhere: asked for now, it is here when it is written. */
static void fetch(const struct pool_block *block) {
    for (size_t at = 0; block && at < block->size; at += POOL_LINE)
        __builtin_prefetch(block->data + at, 1);
}

/* One that is too small makes room for a larger one: mostly, sizes are alike. */
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

/* ---- everybody ---- */

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

/* Whoever comes last, this or the last block, frees it: blocks that came in between are counted
 * below 0. */
void pool_close(struct pool *pool) {
    take_given(pool, &pool->closed);
    free_kept(pool);
    long out = (long)pool->out;
    if (atomic_fetch_add(&pool->left, out) == -out)
        free(pool);
}
