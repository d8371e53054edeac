/* buf: text or bytes under construction, with a maximum set at the start.
 *
 * Two kinds, one interface. buf_init_fixed writes into the caller's memory and never allocates (so
 * core may write through it); buf_init_heap grows up to its maximum. Overflow is sticky: the first
 * append that does not fit appends nothing, sets `overflow`, and so does every later one; check it
 * once at the end. A heap buf that is large also overflows when there is no memory. A zeroed buf is
 * a fixed buf of size 0. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/bytes.h"

struct buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t max;
    bool heap;
    bool overflow;
    bool no_memory; /* with overflow: there was no memory, and the maximum is not reached */
};

void buf_init_fixed(struct buf *b, void *memory, size_t size);
void buf_init_heap(struct buf *b, size_t max);
void buf_free(struct buf *b);  /* heap memory only; the buf is then empty and usable again */
void buf_clear(struct buf *b); /* keeps the memory, forgets contents and overflow */
void buf_put(struct buf *b, const void *data, size_t len);
void buf_bytes(struct buf *b, struct bytes text);
void buf_str(struct buf *b, const char *text);
void buf_char(struct buf *b, char c);
void buf_i64(struct buf *b, int64_t value); /* in decimal */
__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *b, const char *format, ...);
/* Room for `len` more bytes at the end, counted as appended; NULL on overflow. */
char *buf_room(struct buf *b, size_t len);
/* Borrowed until the next change of the buf. */
struct bytes buf_view(const struct buf *b);
/* NUL-terminated view; the NUL is not counted. Needs one spare byte; "" on overflow. */
const char *buf_cstr(struct buf *b);
/* Hands the heap memory over to the caller, NUL-terminated; the buf is empty afterwards. */
char *buf_take(struct buf *b, size_t *len);

#endif
