/* memory: allocation that does not return NULL.
 *
 * Anything that a client can make large (a request body, an answer) goes through struct buf, which
 * has a maximum, or through memory_try: without memory its request fails, and nothing else. For
 * small allocations a server keeps a reserve (memory_reserve). If the system has no memory, the
 * reserve is released, and memory_try refuses everything until the reserve can be allocated again.
 * Only if that does not suffice does the program abort, with a line on stderr; crash recovery from
 * the journal restores everything. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *memory_new(size_t size);                 /* zeroed */
void *memory_array(size_t count, size_t size); /* zeroed; aborts on overflow */
void *memory_grow(void *old, size_t size);
/* For large blocks: NULL if there is no memory; `old` (NULL: none) is unchanged then. */
void *memory_try(void *old, size_t size);
/* At an address that is a multiple of MEMORY_PAGE, like `size`, for direct disk I/O. Not for
 * memory_grow. */
enum { MEMORY_PAGE = 4096 };
void *memory_pages(size_t size);
void *memory_try_pages(size_t size); /* NULL when there is no memory */
/* Allocates the reserve of MEMORY_RESERVE bytes, if there is memory for it. Once, before other
 * threads start. */
enum { MEMORY_RESERVE = 16 << 20 };
void memory_reserve(void);
/* False: the reserve was used up and cannot be restored. Requests with a body are refused then. */
bool memory_has_reserve(void);
/* Returns freed memory to the system, which the allocator would otherwise keep. Takes some
 * milliseconds. */
void memory_trim(void);

#endif
