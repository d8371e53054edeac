/* memory: allocation that cannot fail.
 *
 * What a client can make large (a request body, an answer) goes through struct buf, which has a
 * maximum and says so, or through memory_try: without memory its request fails, and nothing else.
 * For small things a server keeps a reserve (memory_reserve). When the system has no memory, the
 * reserve is given back to it, and memory_try refuses everything until there is memory for the
 * reserve again. Only when that does not suffice does the program abort, with a line on stderr; the
 * journal brings everything back. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *memory_new(size_t size);                 /* zeroed */
void *memory_array(size_t count, size_t size); /* zeroed; aborts on overflow */
void *memory_grow(void *old, size_t size);
/* For what may be large: NULL when there is no memory, and `old` (NULL: none) is as it was. */
void *memory_try(void *old, size_t size);
/* At an address that is a multiple of MEMORY_PAGE, as is `size`: what disks take without a copy.
 * Not for memory_grow. */
enum { MEMORY_PAGE = 4096 };
void *memory_pages(size_t size);
void *memory_try_pages(size_t size); /* NULL when there is no memory */
/* Keeps MEMORY_RESERVE bytes from now on, if there is memory for that now. Once, before other
 * threads begin. */
enum { MEMORY_RESERVE = 16 << 20 };
void memory_reserve(void);
/* False: it was used up, and there is no memory for it. Requests with a body are refused then. */
bool memory_has_reserve(void);
/* What was freed goes back to the system, where the allocator would keep it. Takes some
 * milliseconds. */
void memory_trim(void);

#endif
