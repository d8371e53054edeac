#include "server/http/loop.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread/wakeup.h"
#include "base/containers/list.h"
#include "base/memory.h"
#include "base/thread/thread.h"

struct loop_arrival {
    struct list link;
    int fd;
};

/* The socket context of a connection. */
struct loop_peer {
    struct list link; /* in the loop's `awaited`, while a part of a request must arrive */
    struct loop *loop;
    int fd;
    struct mono until;
};

struct loop {
    struct loop_options options;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    struct wakeup wakeup;
    atomic_bool stopping;
    struct list awaited; /* only used by the thread; ordered by deadline */
    pthread_mutex_t mutex;
    struct list arrivals; /* under the mutex */
};

/* ---- connections ---- */

static struct loop_arrival *next_arrival(struct loop *loop) {
    pthread_mutex_lock(&loop->mutex);
    struct list *node = list_pop_front(&loop->arrivals);
    pthread_mutex_unlock(&loop->mutex);
    return node ? CONTAINER_OF(node, struct loop_arrival, link) : NULL;
}

static void add_arrivals(struct loop *loop) {
    for (struct loop_arrival *arrival; (arrival = next_arrival(loop)); free(arrival)) {
        struct sockaddr_storage address;
        socklen_t len = sizeof address;
        if (getpeername(arrival->fd, (struct sockaddr *)&address, &len) != 0)
            close(arrival->fd); /* the client has disconnected */
        else                    /* closes the socket on failure */
            MHD_add_connection(loop->daemon, arrival->fd, (struct sockaddr *)&address, len);
    }
}

void loop_add(struct loop *loop, int fd) {
    struct loop_arrival *arrival = memory_new(sizeof *arrival);
    arrival->fd = fd;
    pthread_mutex_lock(&loop->mutex);
    list_push_back(&loop->arrivals, &arrival->link);
    pthread_mutex_unlock(&loop->mutex);
    wakeup_ring(&loop->wakeup);
}

static struct loop_peer *peer_of(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void await(struct loop_peer *peer) {
    struct loop *loop = peer->loop;
    list_remove(&peer->link);
    peer->until = mono_after(clock_now(loop->options.clock).mono, loop->options.idle_ms);
    list_push_back(&loop->awaited, &peer->link);
}

void loop_notify(void *arg, struct MHD_Connection *connection, void **place,
                 enum MHD_ConnectionNotificationCode what) {
    struct loop *loop = arg;
    struct loop_peer *peer = *place;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *place = peer = memory_new(sizeof *peer);
        peer->loop = loop;
        peer->fd =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        list_init(&peer->link);
        await(peer);
        atomic_fetch_add(loop->options.connections, 1);
    } else {
        list_remove(&peer->link);
        free(peer);
        atomic_fetch_sub(loop->options.connections, 1);
    }
}

void loop_await(struct MHD_Connection *connection) {
    await(peer_of(connection));
}

/* libmicrohttpd misses an end of file that arrived together with the request: it polls
 * edge-triggered, and takes a short read for the end of what there is. Pipelined requests that it
 * has read already are parsed before MHD_run returns, which moves the deadline; otherwise
 * close_late closes the connection. */
void loop_await_next(struct MHD_Connection *connection) {
    struct loop_peer *peer = peer_of(connection);
    char byte;
    await(peer);
    if (recv(peer->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
        return;
    peer->until = clock_now(peer->loop->options.clock).mono;
    list_remove(&peer->link);
    list_push_front(&peer->loop->awaited, &peer->link);
}

/* libmicrohttpd gets an end of file or an error from the socket, and closes it. */
void loop_close(struct MHD_Connection *connection) {
    shutdown(peer_of(connection)->fd, SHUT_RDWR);
}

void loop_await_nothing(struct MHD_Connection *connection) {
    list_remove(&peer_of(connection)->link);
}

/* libmicrohttpd wakes only threads of its own. The loop outlives every suspended connection. */
void loop_resume(struct MHD_Connection *connection) {
    struct loop *loop = peer_of(connection)->loop;
    MHD_resume_connection(connection);
    wakeup_ring(&loop->wakeup);
}

/* ---- the thread ---- */

static struct loop_peer *first_awaited(struct loop *loop) {
    return list_empty(&loop->awaited) ? NULL
                                      : CONTAINER_OF(loop->awaited.next, struct loop_peer, link);
}

/* Called after MHD_run: data that arrived in time has been read, even if the process was stopped
 * until after the deadline. */
static void close_late(struct loop *loop) {
    struct mono now = clock_now(loop->options.clock).mono;
    for (struct loop_peer *peer; (peer = first_awaited(loop)) && peer->until.ms <= now.ms;) {
        list_remove(&peer->link);
        shutdown(peer->fd, SHUT_RDWR);
    }
}

static int64_t sleep_ms(struct loop *loop) {
    unsigned long long ms;
    struct loop_peer *peer = first_awaited(loop);
    int64_t left = INT64_MAX;
    if (peer)
        left = peer->until.ms - clock_now(loop->options.clock).mono.ms;
    if (MHD_get_timeout(loop->daemon, &ms) == MHD_YES && (int64_t)ms < left)
        left = (int64_t)ms;
    return left > 0 ? left : 0;
}

static void *run(void *arg) {
    struct loop *loop = arg;
    int epoll = MHD_get_daemon_info(loop->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    while (!atomic_load(&loop->stopping)) {
        wakeup_wait(&loop->wakeup, epoll, sleep_ms(loop));
        add_arrivals(loop);
        MHD_run(loop->daemon);
        close_late(loop);
    }
    return NULL;
}

struct loop *loop_start(const struct loop_options *options) {
    struct loop *loop = memory_new(sizeof *loop);
    loop->options = *options;
    list_init(&loop->awaited);
    list_init(&loop->arrivals);
    loop->daemon = options->make(options->arg, loop);
    if (!loop->daemon) {
        free(loop);
        return NULL;
    }
    wakeup_init(&loop->wakeup);
    atomic_init(&loop->stopping, false);
    pthread_mutex_init(&loop->mutex, NULL);
    thread_start(&loop->thread, "http", run, loop);
    return loop;
}

void loop_stop(struct loop *loop) {
    if (!loop)
        return;
    atomic_store(&loop->stopping, true);
    wakeup_ring(&loop->wakeup);
    pthread_join(loop->thread, NULL);
    add_arrivals(loop); /* closed with the other connections */
    MHD_stop_daemon(loop->daemon);
    assert(list_empty(&loop->awaited) && list_empty(&loop->arrivals));
    wakeup_free(&loop->wakeup);
    pthread_mutex_destroy(&loop->mutex);
    free(loop);
}
