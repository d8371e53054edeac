#include "server/front.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/thread.h"
#include "server/door.h"

enum {
    FRONT_EVENTS_MAX = 64, /* taken at once */
    FRONT_REST_MS = 20,    /* before it is tried again to accept, when there was no room */
};

struct guest {
    struct list link;
    int fd;
    struct mono until;
};

struct front {
    struct front_options options;
    pthread_t thread;
    int epoll, bell;
    struct list guests; /* in order of arrival, and so of their deadlines */
    size_t count;
    bool resting; /* the listening socket is not watched: there was no room */
    struct door door;
};

static struct mono now(struct front *front) {
    return clock_now(front->options.clock).mono;
}

static void watch(struct front *front, int op, int fd, uint32_t events, void *what) {
    struct epoll_event event = {.events = events, .data.ptr = what};
    int done = epoll_ctl(front->epoll, op, fd, &event);
    assert(done == 0);
}

/* The socket is the caller's again. */
static int release(struct front *front, struct guest *guest) {
    int fd = guest->fd;
    watch(front, EPOLL_CTL_DEL, fd, 0, NULL);
    list_remove(&guest->link);
    front->count--;
    free(guest);
    return fd;
}

/* ---- what comes ---- */

static void let_in(struct front *front, struct guest *guest, enum door_answer answer) {
    switch (answer) {
    case DOOR_WAIT:
        break;
    case DOOR_OPEN:
        front->options.hand_over(front->options.arg, release(front, guest));
        break;
    case DOOR_SHUT:
        farewell_take(front->options.farewell, release(front, guest));
        break;
    case DOOR_GONE:
        close(release(front, guest));
        break;
    }
}

static void hear(struct front *front, struct guest *guest, bool ended) {
    let_in(front, guest, door_look(&front->door, guest->fd, ended));
}

static void expire(struct front *front, struct guest *guest) {
    let_in(front, guest, door_expire(&front->door, guest->fd, front->options.head_ms));
}

/* ---- who comes ---- */

static void greet(struct front *front, int fd) {
    struct guest *guest = memory_new(sizeof *guest);
    guest->fd = fd;
    guest->until = mono_after(now(front), front->options.head_ms);
    list_push_back(&front->guests, &guest->link);
    front->count++;
    /* Edges: what was looked at and left in the socket must not ring again. */
    watch(front, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, guest);
}

static void rest(struct front *front, bool resting) {
    if (front->resting != resting)
        watch(front, EPOLL_CTL_MOD, front->options.listen_fd, resting ? 0 : EPOLLIN,
              &front->resting);
    front->resting = resting;
}

static void accept_all(struct front *front) {
    while (front->count + atomic_load(front->options.handed_over) <
           front->options.connections_max) {
        int fd = accept4(front->options.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            greet(front, fd);
        } else if (errno == EAGAIN) {
            rest(front, false);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            break; /* out of descriptors, most likely */
        }
    }
    rest(front, true);
}

/* ---- the thread ---- */

static struct guest *first(struct front *front) {
    return list_empty(&front->guests) ? NULL : CONTAINER_OF(front->guests.next, struct guest, link);
}

static int sleep_ms(struct front *front) {
    struct guest *guest = first(front);
    if (front->resting)
        return FRONT_REST_MS;
    if (!guest)
        return -1;
    int64_t left = guest->until.ms - now(front).ms;
    return left > 0 ? (int)left : 0;
}

static void expire_all(struct front *front) {
    struct mono at = now(front);
    for (struct guest *guest; (guest = first(front)) && guest->until.ms <= at.ms;)
        expire(front, guest);
}

static void *run(void *arg) {
    struct front *front = arg;
    struct epoll_event events[FRONT_EVENTS_MAX];
    for (;;) {
        int count = epoll_wait(front->epoll, events, FRONT_EVENTS_MAX, sleep_ms(front));
        for (int i = 0; i < count; i++) {
            void *what = events[i].data.ptr;
            if (what == &front->bell)
                return NULL;
            if (what != &front->resting)
                hear(front, what, events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
        }
        accept_all(front);
        expire_all(front);
    }
}

struct front *front_start(const struct front_options *options) {
    struct front *front = memory_new(sizeof *front);
    front->options = *options;
    list_init(&front->guests);
    front->epoll = epoll_create1(EPOLL_CLOEXEC);
    front->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert(front->epoll >= 0 && front->bell >= 0);
    watch(front, EPOLL_CTL_ADD, front->bell, EPOLLIN, &front->bell);
    watch(front, EPOLL_CTL_ADD, front->options.listen_fd, EPOLLIN, &front->resting);
    thread_start(&front->thread, "http-front", run, front);
    return front;
}

void front_stop(struct front *front) {
    if (!front)
        return;
    uint64_t one = 1;
    ssize_t written = write(front->bell, &one, sizeof one);
    assert(written == sizeof one);
    pthread_join(front->thread, NULL);
    close(front->options.listen_fd);
    while (!list_empty(&front->guests))
        close(release(front, first(front)));
    close(front->bell);
    close(front->epoll);
    free(front);
}
