/* front: where connections come in.
 *
 * Accepts them and looks at the head of their first request (door.h): one that is in order goes to
 * libmicrohttpd, with nothing read. One thread; a slow client costs a socket and nothing else.
 *
 *     accepted ──▶ waits for its head ──▶ handed over
 *                        │
 *                        └──▶ refused, or its time is over: answered, farewell
 *
 * The heads of later requests are looked at by the loop that has the connection (kept.h). */
#ifndef SERVER_FRONT_H
#define SERVER_FRONT_H

#include <stdatomic.h>
#include <stddef.h>

#include "port/clock.h"
#include "server/farewell.h"

struct front;

struct front_options {
    int listen_fd;                             /* taken: closed by front_stop */
    void (*hand_over)(void *arg, int fd_take); /* to libmicrohttpd, from the front's thread */
    void *arg;
    struct farewell *farewell;
    struct clock *clock;
    int64_t head_ms;            /* how long a head may take to arrive */
    size_t connections_max;     /* here and at libmicrohttpd's; more wait in the listen backlog */
    atomic_size_t *handed_over; /* connections that libmicrohttpd has; kept by the caller */
};

struct front *front_start(const struct front_options *options);
/* Accepts nothing more and closes those whose head has not come. NULL is nothing. */
void front_stop(struct front *front);

#endif
