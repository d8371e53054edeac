/* memory: allocation that cannot fail.
 *
 * Running out of memory for small things is not a state that the program can be in and go on: it
 * aborts with a line on stderr, and the journal brings everything back. What a stranger can make
 * large (a request body, an answer) goes through struct buf, which has a maximum and says so, or
 * through memory_try: its request fails then, and nothing else. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

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
/* What was freed goes back to the system, where the allocator would keep it. Takes some
 * milliseconds. */
void memory_trim(void);

#endif
