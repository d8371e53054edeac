#include "server/farewell.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread.h"

enum { FAREWELL_READ = 64 * 1024 };

struct farewell_socket {
    int fd;
    uint64_t read;
    int64_t until_ms;
};

struct farewell {
    pthread_mutex_t mutex; /* guards the sockets' arrival; the thread alone removes them */
    struct farewell_socket sockets[FAREWELL_SOCKETS_MAX];
    size_t count;
    bool ending;
    int bell; /* eventfd: a socket has come, or it is time to end */
    pthread_t thread;
};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void ring(struct farewell *farewell) {
    uint64_t one = 1;
    ssize_t written = write(farewell->bell, &one, sizeof one);
    assert(written == sizeof one);
}

void farewell_take(struct farewell *farewell, int fd) {
    pthread_mutex_lock(&farewell->mutex);
    bool taken = farewell->count < FAREWELL_SOCKETS_MAX;
    if (taken)
        farewell->sockets[farewell->count++] =
            (struct farewell_socket){.fd = fd, .until_ms = now_ms() + FAREWELL_TIME_MAX_MS};
    pthread_mutex_unlock(&farewell->mutex);
    if (taken)
        ring(farewell);
    else
        close(fd);
}

void farewell_later(struct farewell *farewell, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int fd = info ? fcntl(info->connect_fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd >= 0)
        farewell_take(farewell, fd);
}

/* False when this socket is done with. */
static bool discard(struct farewell_socket *socket) {
    static _Thread_local char waste[FAREWELL_READ];
    ssize_t len = recv(socket->fd, waste, sizeof waste, MSG_DONTWAIT);
    if (len < 0)
        return errno == EAGAIN || errno == EINTR;
    socket->read += (uint64_t)len;
    return len > 0 && socket->read < FAREWELL_BYTES_MAX;
}

/* Reads what polling found and closes what is done. Sockets that arrived meanwhile stand behind
 * `polled` and are left for the next turn. */
static void sweep(struct farewell *farewell, const struct pollfd *polls, size_t polled) {
    int64_t now = now_ms();
    pthread_mutex_lock(&farewell->mutex);
    for (size_t i = polled; i-- > 0;) {
        struct farewell_socket *socket = &farewell->sockets[i];
        bool more = !polls[i].revents || discard(socket);
        if (more && now < socket->until_ms && !farewell->ending)
            continue;
        close(socket->fd);
        *socket = farewell->sockets[--farewell->count];
    }
    pthread_mutex_unlock(&farewell->mutex);
}

static size_t gather(struct farewell *farewell, struct pollfd *polls, bool *ending) {
    pthread_mutex_lock(&farewell->mutex);
    size_t count = farewell->count;
    for (size_t i = 0; i < count; i++)
        polls[i] = (struct pollfd){.fd = farewell->sockets[i].fd, .events = POLLIN};
    *ending = farewell->ending;
    pthread_mutex_unlock(&farewell->mutex);
    return count;
}

static void *run(void *arg) {
    struct farewell *farewell = arg;
    struct pollfd polls[FAREWELL_SOCKETS_MAX + 1];
    for (bool ending = false;;) {
        size_t count = gather(farewell, polls, &ending);
        if (ending && count == 0)
            return NULL;
        polls[count] = (struct pollfd){.fd = farewell->bell, .events = POLLIN};
        poll(polls, count + 1, count > 0 ? 1000 : -1);
        uint64_t rung;
        if ((polls[count].revents & POLLIN) && read(farewell->bell, &rung, sizeof rung) < 0)
            return NULL;
        sweep(farewell, polls, count);
    }
}

struct farewell *farewell_new(void) {
    struct farewell *farewell = memory_new(sizeof *farewell);
    pthread_mutex_init(&farewell->mutex, NULL);
    farewell->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert(farewell->bell >= 0);
    thread_start(&farewell->thread, "http-farewell", run, farewell);
    return farewell;
}

void farewell_free(struct farewell *farewell) {
    if (!farewell)
        return;
    pthread_mutex_lock(&farewell->mutex);
    farewell->ending = true;
    pthread_mutex_unlock(&farewell->mutex);
    ring(farewell);
    pthread_join(farewell->thread, NULL);
    close(farewell->bell);
    pthread_mutex_destroy(&farewell->mutex);
    free(farewell);
}
