#include "server/http/loop.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bell.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/thread.h"

struct arrival {
    struct list link;
    int fd;
};

/* What the daemon notes with a connection. */
struct seat {
    struct list link; /* in the loop's `awaited`, while more of a request is to come */
    struct loop *loop;
    int fd;
    struct mono until;
};

struct loop {
    struct loop_options options;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    struct bell bell;
    atomic_bool stopping;
    struct list awaited; /* the thread's: in the order of their deadlines */
    pthread_mutex_t mutex;
    struct list arrivals; /* under the mutex */
};

/* ---- connections ---- */

static struct arrival *next_arrival(struct loop *loop) {
    pthread_mutex_lock(&loop->mutex);
    struct list *node = list_pop_front(&loop->arrivals);
    pthread_mutex_unlock(&loop->mutex);
    return node ? CONTAINER_OF(node, struct arrival, link) : NULL;
}

static void add_arrivals(struct loop *loop) {
    for (struct arrival *arrival; (arrival = next_arrival(loop)); free(arrival)) {
        struct sockaddr_storage address;
        socklen_t len = sizeof address;
        if (getpeername(arrival->fd, (struct sockaddr *)&address, &len) != 0)
            close(arrival->fd); /* it has left already */
        else                    /* closes the socket when it does not take it */
            MHD_add_connection(loop->daemon, arrival->fd, (struct sockaddr *)&address, len);
    }
}

void loop_add(struct loop *loop, int fd) {
    struct arrival *arrival = memory_new(sizeof *arrival);
    arrival->fd = fd;
    pthread_mutex_lock(&loop->mutex);
    list_push_back(&loop->arrivals, &arrival->link);
    pthread_mutex_unlock(&loop->mutex);
    bell_ring(&loop->bell);
}

static struct seat *seat_of(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void await(struct seat *seat) {
    struct loop *loop = seat->loop;
    list_remove(&seat->link);
    seat->until = mono_after(clock_now(loop->options.clock).mono, loop->options.idle_ms);
    list_push_back(&loop->awaited, &seat->link);
}

void loop_notify(void *arg, struct MHD_Connection *connection, void **place,
                 enum MHD_ConnectionNotificationCode what) {
    struct loop *loop = arg;
    struct seat *seat = *place;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *place = seat = memory_new(sizeof *seat);
        seat->loop = loop;
        seat->fd =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        list_init(&seat->link);
        await(seat);
        atomic_fetch_add(loop->options.connections, 1);
    } else {
        list_remove(&seat->link);
        free(seat);
        atomic_fetch_sub(loop->options.connections, 1);
    }
}

void loop_await(struct MHD_Connection *connection) {
    await(seat_of(connection));
}

/* libmicrohttpd does not notice an end that came with the request: it is told by edges, and stops
 * reading when a read gave less than it might. It parses what it has read before it returns from
 * MHD_run; only then is the connection closed, if nothing was begun meanwhile (close_late). */
void loop_await_next(struct MHD_Connection *connection) {
    struct seat *seat = seat_of(connection);
    char byte;
    await(seat);
    if (recv(seat->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
        return;
    seat->until = clock_now(seat->loop->options.clock).mono;
    list_remove(&seat->link);
    list_push_front(&seat->loop->awaited, &seat->link);
}

/* libmicrohttpd finds that nothing more comes or goes, and closes its end. */
void loop_close(struct MHD_Connection *connection) {
    shutdown(seat_of(connection)->fd, SHUT_RDWR);
}

void loop_await_nothing(struct MHD_Connection *connection) {
    list_remove(&seat_of(connection)->link);
}

/* libmicrohttpd wakes threads of its own alone. The loop outlives everything that is suspended. */
void loop_resume(struct MHD_Connection *connection) {
    struct loop *loop = seat_of(connection)->loop;
    MHD_resume_connection(connection);
    bell_ring(&loop->bell);
}

/* ---- the thread ---- */

static struct seat *first_awaited(struct loop *loop) {
    return list_empty(&loop->awaited) ? NULL : CONTAINER_OF(loop->awaited.next, struct seat, link);
}

/* After MHD_run, so that what had come in time was read, however late it is by now. */
static void close_late(struct loop *loop) {
    struct mono now = clock_now(loop->options.clock).mono;
    for (struct seat *seat; (seat = first_awaited(loop)) && seat->until.ms <= now.ms;) {
        list_remove(&seat->link);
        shutdown(seat->fd, SHUT_RDWR);
    }
}

static int64_t sleep_ms(struct loop *loop) {
    unsigned long long ms;
    struct seat *seat = first_awaited(loop);
    int64_t left = INT64_MAX;
    if (seat)
        left = seat->until.ms - clock_now(loop->options.clock).mono.ms;
    if (MHD_get_timeout(loop->daemon, &ms) == MHD_YES && (int64_t)ms < left)
        left = (int64_t)ms;
    return left > 0 ? left : 0;
}

static void *run(void *arg) {
    struct loop *loop = arg;
    int epoll = MHD_get_daemon_info(loop->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    while (!atomic_load(&loop->stopping)) {
        bell_wait(&loop->bell, epoll, sleep_ms(loop));
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
    bell_init(&loop->bell);
    atomic_init(&loop->stopping, false);
    pthread_mutex_init(&loop->mutex, NULL);
    thread_start(&loop->thread, "http", run, loop);
    return loop;
}

void loop_stop(struct loop *loop) {
    if (!loop)
        return;
    atomic_store(&loop->stopping, true);
    bell_ring(&loop->bell);
    pthread_join(loop->thread, NULL);
    add_arrivals(loop); /* which are closed with the rest */
    MHD_stop_daemon(loop->daemon);
    bell_free(&loop->bell);
    pthread_mutex_destroy(&loop->mutex);
    free(loop);
}
