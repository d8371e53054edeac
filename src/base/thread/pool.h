/* pool: recycled blocks that one thread gets and others return. malloc has a heap per thread, and a
 * block freed by another thread takes that heap's lock each time, in contention with its owner.
 *
 * Returning a block puts it on a lock-free list; the getting thread takes the whole list when it
 * has no block left. Only one thread at a time gets, trims and closes. */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <stddef.h>

struct pool;

struct pool *pool_new(void);
/* Not zeroed; aligned for any type. */
void *pool_get(struct pool *pool, size_t size);
/* Returns a block; any thread, even after the pool was closed. */
void pool_put(void *block);
/* Frees the returned blocks. */
void pool_trim(struct pool *pool);
/* The pool is freed with its last block in use. */
void pool_close(struct pool *pool);

#endif
