#include "peer.h"

#include <arpa/inet.h>
#include <assert.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"

enum { REQUEST_MAX = 16 * 1024 * 1024 };

struct connection {
    struct peer *peer;
    int fd;
    int number;
};

static void *serve_connection(void *arg) {
    struct connection *connection = arg;
    connection->peer->serve(connection->peer, connection->fd, connection->number);
    close(connection->fd);
    free(connection);
    return NULL;
}

static void *accept_all(void *arg) {
    struct peer *peer = arg;
    int fd;
    for (int number = 1; (fd = accept(peer->listener, NULL, NULL)) >= 0; number++) {
        if (!peer->threads) {
            peer->serve(peer, fd, number);
            continue;
        }
        struct connection *connection = memory_new(sizeof *connection);
        *connection = (struct connection){peer, fd, number};
        assert(peer->worker_count < PEER_CONNECTIONS_MAX);
        pthread_create(&peer->workers[peer->worker_count++], NULL, serve_connection, connection);
    }
    return NULL;
}

void peer_start(struct peer *peer, peer_serve *serve, void *arg, bool threads) {
    memset(peer, 0, sizeof *peer);
    peer->serve = serve;
    peer->arg = arg;
    peer->threads = threads;
    pthread_mutex_init(&peer->mutex, NULL);
    buf_init_heap(&peer->last, REQUEST_MAX);
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int bound = bind(peer->listener, (struct sockaddr *)&address, len);
    assert(bound == 0);
    (void)bound;
    listen(peer->listener, PEER_CONNECTIONS_MAX);
    getsockname(peer->listener, (struct sockaddr *)&address, &len);
    snprintf(peer->url, sizeof peer->url, "http://127.0.0.1:%d/price", ntohs(address.sin_port));
    pthread_create(&peer->acceptor, NULL, accept_all, peer);
}

void peer_stop(struct peer *peer) {
    shutdown(peer->listener, SHUT_RDWR);
    pthread_join(peer->acceptor, NULL);
    for (int i = 0; i < peer->worker_count; i++)
        pthread_join(peer->workers[i], NULL);
    close(peer->listener);
    buf_free(&peer->last);
    pthread_mutex_destroy(&peer->mutex);
}

/* Bytes that the request has in all, once its head is there; 0 before. */
static size_t request_size(struct buf *request) {
    const char *text = buf_cstr(request);
    const char *end = strstr(text, "\r\n\r\n");
    if (!end)
        return 0;
    const char *length = strcasestr(text, "\r\nContent-Length:");
    size_t body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
    return (size_t)(end + 4 - text) + body;
}

bool peer_read(struct peer *peer, int fd) {
    struct buf request;
    buf_init_heap(&request, REQUEST_MAX);
    char chunk[65536];
    size_t want = 0;
    while (want == 0 || request.len < want) {
        ssize_t got = recv(fd, chunk, sizeof chunk, 0);
        if (got <= 0) {
            buf_free(&request);
            return false;
        }
        buf_put(&request, chunk, (size_t)got);
        if (want == 0)
            want = request_size(&request);
    }
    pthread_mutex_lock(&peer->mutex);
    buf_free(&peer->last);
    peer->last = request;
    pthread_mutex_unlock(&peer->mutex);
    atomic_fetch_add(&peer->requests, 1);
    return true;
}

void peer_write(int fd, const char *text) {
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
        if (sent < 0)
            return;
        text += sent;
        len -= (size_t)sent;
    }
}

void peer_await_delivery(int fd) {
    int under_way = 0;
    while (ioctl(fd, SIOCOUTQ, &under_way) == 0 && under_way > 0)
        sched_yield();
}

void peer_await_close(int fd) {
    char chunk[4096];
    while (recv(fd, chunk, sizeof chunk, 0) > 0)
        continue;
}

void peer_reset_on_close(int fd) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

bool peer_got(struct peer *peer, const char *text) {
    pthread_mutex_lock(&peer->mutex);
    bool got = bytes_find(buf_view(&peer->last), bytes_of(text)) < peer->last.len;
    pthread_mutex_unlock(&peer->mutex);
    return got;
}
