/* peer: an HTTP server that does exactly what a test tells it to, on a free loopback port. */
#ifndef PEER_H
#define PEER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"

enum { PEER_CONNECTIONS_MAX = 4096 };

struct peer;

/* One connection, from accept on; `number` counts them from 1. The peer closes fd afterwards. */
typedef void peer_serve(struct peer *peer, int fd, int number);

struct peer {
    peer_serve *serve;
    bool threads; /* each connection on a thread of its own, else one after the other */
    void *arg;
    int listener;
    char url[64];
    pthread_t acceptor;
    pthread_t workers[PEER_CONNECTIONS_MAX];
    int worker_count;
    pthread_mutex_t mutex;
    struct buf last; /* the last request that was read, head and body */
    atomic_int requests;
};

void peer_start(struct peer *peer, peer_serve *serve, void *arg, bool threads);
void peer_stop(struct peer *peer); /* every client must have closed, or be about to */

/* Reads one request; false when the client closed instead. */
bool peer_read(struct peer *peer, int fd);
void peer_write(int fd, const char *text);
/* Waits until all that was written is where the client reads. */
void peer_await_delivery(int fd);
/* Waits until the client closes. */
void peer_await_close(int fd);
/* The next close of fd sends RST. */
void peer_reset_on_close(int fd);
bool peer_got(struct peer *peer, const char *text); /* the last request contains it */

#endif
