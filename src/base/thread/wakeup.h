/* bell: wakes a thread that waits on a socket (wakeup). */
#ifndef BASE_THREAD_WAKEUP_H
#define BASE_THREAD_WAKEUP_H

#include <stdatomic.h>
#include <stdint.h>

struct bell {
    int fd; /* an eventfd */
    atomic_bool rung;
};

void bell_init(struct bell *bell);
void bell_free(struct bell *bell);
/* Any thread; does not block. Rings before the sleeper wakes are merged. */
void bell_ring(struct bell *bell);
/* Waits until it rings, `fd` (-1: none) is readable, or `ms` have passed (negative: returns at
 * once). */
void bell_wait(struct bell *bell, int fd, int64_t ms);

#endif
