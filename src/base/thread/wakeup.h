/* wakeup: wakes a thread that waits on a socket (wakeup). */
#ifndef BASE_THREAD_WAKEUP_H
#define BASE_THREAD_WAKEUP_H

#include <stdatomic.h>
#include <stdint.h>

struct wakeup {
    int fd; /* an eventfd */
    atomic_bool rung;
};

void wakeup_init(struct wakeup *wakeup);
void wakeup_free(struct wakeup *wakeup);
/* Any thread; does not block. Rings before the sleeper wakes are merged. */
void wakeup_ring(struct wakeup *wakeup);
/* Waits until it rings, `fd` (-1: none) is readable, or `ms` have passed (negative: returns at
 * once). */
void wakeup_wait(struct wakeup *wakeup, int fd, int64_t ms);

#endif
