/* output_tail: keeps the last bytes of a stream of any length. */
#ifndef HANDLER_EXEC_OUTPUT_TAIL_H
#define HANDLER_EXEC_OUTPUT_TAIL_H

#include "base/arena.h"

enum { TAIL_MAX = 64 * 1024 }; /* bytes kept */

/* A zeroed tail is empty. */
struct tail {
    char *ring; /* TAIL_MAX bytes, allocated on first use */
    size_t end; /* position of the next byte */
    size_t len;
};

void tail_put(struct tail *tail, struct bytes text);
/* In order, in the arena. */
struct bytes tail_text(const struct tail *tail, struct arena *arena);
void tail_clear(struct tail *tail); /* keeps the memory */
void tail_free(struct tail *tail);  /* leaves it empty */

#endif
