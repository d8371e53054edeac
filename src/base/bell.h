/* bell: wakes a thread that sleeps on a socket. */
#ifndef BASE_BELL_H
#define BASE_BELL_H

#include <stdatomic.h>
#include <stdint.h>

struct bell {
    int fd; /* an eventfd */
    atomic_bool rung;
};

void bell_init(struct bell *bell);
void bell_free(struct bell *bell);
/* From any thread; does not block. Rings that come before the sleeper wakes are one. */
void bell_ring(struct bell *bell);
/* Until it rings, `fd` (-1: none) can be read, or `ms` have passed (negative: none have to). */
void bell_wait(struct bell *bell, int fd, int64_t ms);

#endif
