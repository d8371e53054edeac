#include "server/http/listener.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread/wakeup.h"
#include "base/memory.h"
#include "base/thread/thread.h"

enum {
    LISTENER_BACKLOG = 1024,
    LISTENER_REST_MS = 20, /* pause before the next accept when there were too many connections */
};

struct listener {
    struct listener_options options;
    int fd;
    uint16_t port;
    bool started;
    atomic_bool stopping;
    struct wakeup wakeup;
    pthread_t thread;
};

/* ---- the socket ---- */

static enum status resolve(const char *host, uint16_t port, struct addrinfo **out,
                           struct err *err) {
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
    };
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    int failed = getaddrinfo(host, service, &hints, out);
    if (failed)
        return err_set(err, STATUS_INVALID, "server.listen: %s: %s", host, gai_strerror(failed));
    return STATUS_OK;
}

static int open_at(const struct addrinfo *address) {
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, LISTENER_BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static uint16_t port_of(int fd) {
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return 0;
    return address.ss_family == AF_INET6
               ? ntohs(((const struct sockaddr_in6 *)(const void *)&address)->sin6_port)
               : ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port);
}

enum status listener_new(const char *host, uint16_t port, struct listener **out, struct err *err) {
    struct addrinfo *addresses;
    if (resolve(host, port, &addresses, err) != STATUS_OK)
        return STATUS_INVALID;
    int fd = open_at(addresses), why = errno;
    freeaddrinfo(addresses);
    if (fd < 0)
        return err_set(err, why == EADDRINUSE ? STATUS_BUSY : STATUS_IO,
                       "cannot listen at %s:%u: %s", host, port, strerror(why));
    struct listener *listener = memory_new(sizeof *listener);
    listener->fd = fd;
    listener->port = port_of(fd);
    atomic_init(&listener->stopping, false);
    wakeup_init(&listener->wakeup);
    *out = listener;
    return STATUS_OK;
}

uint16_t listener_port(const struct listener *listener) {
    return listener->port;
}

/* ---- the thread ---- */

/* False if connections may be left in the backlog: the limit is reached, or there is no free
 * descriptor. */
static bool accept_all(struct listener *listener) {
    const struct listener_options *options = &listener->options;
    while (atomic_load(options->connections) < options->connections_max) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            options->hand_over(options->arg, fd);
        else if (errno == EAGAIN)
            return true;
        else if (errno != EINTR && errno != ECONNABORTED)
            return false;
    }
    return false;
}

static void *run(void *arg) {
    struct listener *listener = arg;
    while (!atomic_load(&listener->stopping)) {
        bool room = accept_all(listener);
        wakeup_wait(&listener->wakeup, room ? listener->fd : -1,
                    room ? INT64_MAX : LISTENER_REST_MS);
    }
    return NULL;
}

void listener_start(struct listener *listener, const struct listener_options *options) {
    assert(!listener->started);
    listener->options = *options;
    listener->started = true;
    thread_start(&listener->thread, "http-listener", run, listener);
}

void listener_free(struct listener *listener) {
    if (!listener)
        return;
    if (listener->started) {
        atomic_store(&listener->stopping, true);
        wakeup_ring(&listener->wakeup);
        pthread_join(listener->thread, NULL);
    }
    close(listener->fd);
    wakeup_free(&listener->wakeup);
    free(listener);
}
