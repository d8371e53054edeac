#include "server/loop.h"

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
    struct visit visit;
    struct loop *loop;
};

struct loop {
    struct MHD_Daemon *daemon;
    struct kept *kept;
    atomic_size_t *connections;
    pthread_t thread;
    struct bell bell;
    atomic_bool stopping;
    pthread_mutex_t mutex;
    struct list arrivals; /* under the mutex */
};

static struct arrival *next_arrival(struct loop *loop) {
    pthread_mutex_lock(&loop->mutex);
    struct list *node = list_pop_front(&loop->arrivals);
    pthread_mutex_unlock(&loop->mutex);
    return node ? CONTAINER_OF(node, struct arrival, link) : NULL;
}

static void add_one(struct loop *loop, int fd) {
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &len) != 0)
        close(fd); /* it has left already */
    else           /* closes the socket when it does not take it */
        MHD_add_connection(loop->daemon, fd, (struct sockaddr *)&address, len);
}

static void add_arrivals(struct loop *loop) {
    for (struct arrival *arrival; (arrival = next_arrival(loop));) {
        add_one(loop, arrival->fd);
        free(arrival);
    }
}

static int64_t sleep_ms(struct loop *loop) {
    unsigned long long ms;
    int64_t most = kept_sleep_ms(loop->kept);
    return MHD_get_timeout(loop->daemon, &ms) == MHD_YES && ms < (unsigned long long)most
               ? (int64_t)ms
               : most;
}

static void *run(void *arg) {
    struct loop *loop = arg;
    int epoll = kept_watch(loop->kept,
                           MHD_get_daemon_info(loop->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
    while (!atomic_load(&loop->stopping)) {
        bell_wait(&loop->bell, epoll, sleep_ms(loop));
        add_arrivals(loop);
        kept_hear(loop->kept);
        MHD_run(loop->daemon);
    }
    return NULL;
}

void loop_notify(void *arg, struct MHD_Connection *connection, void **place,
                 enum MHD_ConnectionNotificationCode what) {
    struct loop *loop = arg;
    struct seat *seat = *place;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *place = seat = memory_new(sizeof *seat);
        seat->loop = loop;
        kept_open(loop->kept, &seat->visit, connection);
        atomic_fetch_add(loop->connections, 1);
    } else {
        kept_close(&seat->visit);
        free(seat);
        atomic_fetch_sub(loop->connections, 1);
    }
}

static struct seat *seat_of(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

struct visit *loop_visit(struct MHD_Connection *connection) {
    return &seat_of(connection)->visit;
}

struct loop *loop_start(const struct loop_options *options) {
    struct loop *loop = memory_new(sizeof *loop);
    loop->connections = options->connections;
    loop->kept = kept_new(&options->kept);
    loop->daemon = options->make(options->arg, loop);
    if (!loop->daemon) {
        kept_free(loop->kept);
        free(loop);
        return NULL;
    }
    bell_init(&loop->bell);
    atomic_init(&loop->stopping, false);
    pthread_mutex_init(&loop->mutex, NULL);
    list_init(&loop->arrivals);
    thread_start(&loop->thread, "http", run, loop);
    return loop;
}

void loop_add(struct loop *loop, int fd) {
    struct arrival *arrival = memory_new(sizeof *arrival);
    arrival->fd = fd;
    pthread_mutex_lock(&loop->mutex);
    list_push_back(&loop->arrivals, &arrival->link);
    pthread_mutex_unlock(&loop->mutex);
    bell_ring(&loop->bell);
}

/* libmicrohttpd wakes threads of its own alone. The loop outlives everything that is suspended. */
void loop_resume(struct MHD_Connection *connection) {
    struct loop *loop = seat_of(connection)->loop;
    MHD_resume_connection(connection);
    bell_ring(&loop->bell);
}

void loop_stop(struct loop *loop) {
    if (!loop)
        return;
    atomic_store(&loop->stopping, true);
    bell_ring(&loop->bell);
    pthread_join(loop->thread, NULL);
    add_arrivals(loop); /* which are closed with the rest */
    kept_end(loop->kept);
    MHD_stop_daemon(loop->daemon);
    kept_free(loop->kept);
    bell_free(&loop->bell);
    pthread_mutex_destroy(&loop->mutex);
    free(loop);
}
