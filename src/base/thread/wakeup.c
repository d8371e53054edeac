/* wakeup: an eventfd (wakeup), written at most once until the sleeper has woken. */
#include "base/thread/wakeup.h"

#include <assert.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

void wakeup_init(struct wakeup *wakeup) {
    wakeup->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wakeup->fd < 0) {
        perror("impound: eventfd");
        abort();
    }
    atomic_init(&wakeup->rung, false);
}

void wakeup_free(struct wakeup *wakeup) {
    close(wakeup->fd);
}

void wakeup_ring(struct wakeup *wakeup) {
    assert(wakeup->fd >= 0);
    eventfd_t one = 1;
    if (!atomic_exchange(&wakeup->rung, true))
        eventfd_write(wakeup->fd, one);
}

/* `rung` is cleared last: a ring before that finds it set and writes nothing, but its cause is
 * visible already, and the waking thread sees it. */
void wakeup_wait(struct wakeup *wakeup, int fd, int64_t ms) {
    struct pollfd watched[] = {{.fd = wakeup->fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    eventfd_t rings;
    if (ms < 0)
        ms = 0;
    poll(watched, fd < 0 ? 1 : 2, ms < INT_MAX ? (int)ms : INT_MAX);
    if (watched[0].revents & POLLIN) {
        eventfd_read(wakeup->fd, &rings);
        atomic_store(&wakeup->rung, false);
    }
}
