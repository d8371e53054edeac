/* pool: memory that one thread gets and others give back, used again and again. malloc has a heap
 * for each thread, and what another one frees takes that heap's lock, every time, while its owner
 * wants it too.
 *
 * Whoever gives back puts the block on a list without a lock; the one that gets takes the whole
 * list when it has none left. One thread at a time gets, trims and closes. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

struct pool;

struct pool *pool_new(void);
/* Not zeroed, and aligned for anything. */
void *pool_get(struct pool *pool, size_t size);
/* Where it came from; from any thread, also when the pool is closed. */
void pool_put(void *block);
/* Frees what was given back. */
void pool_trim(struct pool *pool);
/* It is freed with the last block that is still out. */
void pool_close(struct pool *pool);

#endif
