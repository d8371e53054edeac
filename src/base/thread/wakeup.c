/* bell: an eventfd (wakeup), written at most once until the sleeper has woken. */
#include "base/thread/wakeup.h"

#include <assert.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

void bell_init(struct bell *bell) {
    bell->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (bell->fd < 0) {
        perror("impound: eventfd");
        abort();
    }
    atomic_init(&bell->rung, false);
}

void bell_free(struct bell *bell) {
    close(bell->fd);
}

void bell_ring(struct bell *bell) {
    assert(bell->fd >= 0);
    eventfd_t one = 1;
    if (!atomic_exchange(&bell->rung, true))
        eventfd_write(bell->fd, one);
}

/* `rung` is cleared last: a ring before that finds it set and writes nothing, but its cause is
 * visible already, and the waking thread sees it. */
void bell_wait(struct bell *bell, int fd, int64_t ms) {
    struct pollfd watched[] = {{.fd = bell->fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    eventfd_t rings;
    if (ms < 0)
        ms = 0;
    poll(watched, fd < 0 ? 1 : 2, ms < INT_MAX ? (int)ms : INT_MAX);
    if (watched[0].revents & POLLIN) {
        eventfd_read(bell->fd, &rings);
        atomic_store(&bell->rung, false);
    }
}
