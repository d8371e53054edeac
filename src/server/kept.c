#include "server/kept.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "server/door.h"
#include "server/farewell.h"

enum {
    KEPT_AT_ONCE = 64, /* events */
    KEPT_EVENTS = EPOLLIN | EPOLLRDHUP | EPOLLET,
    KEPT_CLOSE_WAIT = 8, /* TCP_CLOSE_WAIT: its header and linux/tcp.h exclude each other */
};

struct kept {
    struct kept_options options;
    int epoll;
    struct list waiting, arriving; /* in order of their deadlines */
    struct door door;
};

static struct mono now(const struct kept *kept) {
    return clock_now(kept->options.clock).mono;
}

/* ---- how far has it been read? ---- */

/* What arrived, less what lies in the socket. A client's farewell counts as a byte, which nobody
 * reads. */
static uint64_t bytes_read(int fd) {
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    int unread;
    if (ioctl(fd, FIONREAD, &unread) != 0 ||
        getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return UINT64_MAX;
    return info.tcpi_bytes_received - (info.tcpi_state == KEPT_CLOSE_WAIT) - (uint64_t)unread;
}

/* Asked before the answer is sent: who waits for it sends nothing meanwhile. */
void kept_mark(struct visit *visit, uint64_t body) {
    visit->begun +=
        body + MHD_get_connection_info(visit->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
                   ->header_size;
    visit->even = bytes_read(visit->fd) == visit->begun;
}

/* ---- a connection's life ---- */

struct kept *kept_new(const struct kept_options *options) {
    struct kept *kept = memory_new(sizeof *kept);
    kept->options = *options;
    kept->epoll = epoll_create1(EPOLL_CLOEXEC);
    assert(kept->epoll >= 0);
    list_init(&kept->waiting);
    list_init(&kept->arriving);
    return kept;
}

void kept_free(struct kept *kept) {
    close(kept->epoll);
    free(kept);
}

static void watch(struct kept *kept, int op, int fd, uint32_t events, void *what) {
    struct epoll_event event = {.events = events, .data.ptr = what};
    int done = epoll_ctl(kept->epoll, op, fd, &event);
    assert(done == 0);
}

int kept_watch(struct kept *kept, int fd) {
    watch(kept, EPOLL_CTL_ADD, fd, EPOLLIN, NULL);
    return kept->epoll;
}

/* Watched by edges: what comes while nobody waits rings once, and is left alone. */
void kept_open(struct kept *kept, struct visit *visit, struct MHD_Connection *connection) {
    *visit = (struct visit){
        .kept = kept,
        .connection = connection,
        .fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd};
    watch(kept, EPOLL_CTL_ADD, visit->fd, KEPT_EVENTS, visit);
}

void kept_close(struct visit *visit) {
    kept_expect_no_more(visit);
    watch(visit->kept, EPOLL_CTL_DEL, visit->fd, 0, NULL);
}

/* Watched anew, so that what has come already rings again. */
void kept_wait(struct visit *visit) {
    struct kept *kept = visit->kept;
    if (!visit->even)
        return;
    visit->waiting = true;
    visit->until = mono_after(now(kept), kept->options.idle_ms);
    list_push_back(&kept->waiting, &visit->link);
    watch(kept, EPOLL_CTL_MOD, visit->fd, KEPT_EVENTS, visit);
    MHD_suspend_connection(visit->connection);
}

/* ---- a body that arrives ---- */

void kept_expect_no_more(struct visit *visit) {
    if (visit->arriving)
        list_remove(&visit->link);
    visit->arriving = false;
}

void kept_expect(struct visit *visit, struct mono now) {
    struct kept *kept = visit->kept;
    kept_expect_no_more(visit);
    visit->arriving = true;
    visit->until = mono_after(now, kept->options.idle_ms);
    list_push_back(&kept->arriving, &visit->link);
}

/* ---- how the waiting ends ---- */

static void resume(struct visit *visit) {
    visit->waiting = false;
    list_remove(&visit->link);
    MHD_resume_connection(visit->connection);
}

/* libmicrohttpd finds that nothing can be sent, or nothing comes, and closes it. */
void kept_give_up(struct visit *visit, bool answered) {
    int fd = answered ? fcntl(visit->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd >= 0)
        farewell_take(visit->kept->options.farewell, fd);
    else
        shutdown(visit->fd, SHUT_RDWR);
    visit->over = true;
}

static void end(struct visit *visit, bool answered) {
    kept_give_up(visit, answered);
    resume(visit);
}

static void go_on(struct visit *visit, enum door_answer answer) {
    switch (answer) {
    case DOOR_WAIT:
        break;
    case DOOR_OPEN:
        resume(visit);
        break;
    case DOOR_SHUT:
        end(visit, true);
        break;
    case DOOR_GONE:
        end(visit, false);
        break;
    }
}

static struct visit *first(struct list *visits) {
    return list_empty(visits) ? NULL : CONTAINER_OF(visits->next, struct visit, link);
}

static void hear_events(struct kept *kept) {
    struct epoll_event events[KEPT_AT_ONCE];
    int count = epoll_wait(kept->epoll, events, KEPT_AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        struct visit *visit = events[i].data.ptr;
        bool ended = events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
        if (visit && visit->waiting)
            go_on(visit, door_look(&kept->door, visit->fd, ended));
    }
}

static void expire_all(struct kept *kept) {
    struct mono at = now(kept);
    for (struct visit *visit; (visit = first(&kept->waiting)) && visit->until.ms <= at.ms;)
        go_on(visit, door_expire(&kept->door, visit->fd, kept->options.idle_ms));
    for (struct visit *visit; (visit = first(&kept->arriving)) && visit->until.ms <= at.ms;) {
        kept_expect_no_more(visit);
        kept->options.late(visit);
    }
}

void kept_hear(struct kept *kept) {
    hear_events(kept);
    expire_all(kept);
}

void kept_end(struct kept *kept) {
    for (struct visit *visit; (visit = first(&kept->waiting));)
        resume(visit);
}

static int64_t left_ms(struct kept *kept, struct list *visits) {
    struct visit *visit = first(visits);
    int64_t left = visit ? visit->until.ms - now(kept).ms : INT64_MAX;
    return left > 0 ? left : 0;
}

int64_t kept_sleep_ms(struct kept *kept) {
    int64_t head = left_ms(kept, &kept->waiting), body = left_ms(kept, &kept->arriving);
    return head < body ? head : body;
}
