/* tail: the last bytes of a stream that may be of any length. */
#ifndef HANDLER_TAIL_H
#define HANDLER_TAIL_H

#include "base/arena.h"

enum { TAIL_MAX = 64 * 1024 }; /* bytes kept */

/* A zeroed tail is empty. */
struct tail {
    char *ring; /* TAIL_MAX bytes, once something came */
    size_t end; /* where the next byte goes */
    size_t len;
};

void tail_put(struct tail *tail, struct bytes text);
/* In order, in the arena. */
struct bytes tail_text(const struct tail *tail, struct arena *arena);
void tail_clear(struct tail *tail); /* keeps the memory */
void tail_free(struct tail *tail);  /* it is then empty */

#endif
