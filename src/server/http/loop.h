/* loop: a thread that runs libmicrohttpd, and the time that its clients have.
 *
 * libmicrohttpd has threads of its own, but one of those goes to sleep with 128 ready connections
 * in its hands whenever exactly 128 became ready at once: it asks once more whether there are
 * others, and waits for them. MHD_run never waits, so this thread does, on the same epoll.
 *
 * A head must be whole within `idle_ms` of the connection's beginning or of the answer before it,
 * and a body must go on arriving within `idle_ms` of each piece. Otherwise the connection is
 * closed. libmicrohttpd's own timeout begins anew with every byte, so that a client could hold a
 * connection for days; it is left to end clients that do not read their answer. */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdint.h>

#include "port/clock.h"

struct loop;

struct loop_options {
    /* A daemon without a thread (MHD_USE_EPOLL), for which loop_notify is told of connections with
     * `loop` as its argument; NULL: it does not start. */
    struct MHD_Daemon *(*make)(void *arg, struct loop *loop);
    void *arg;
    atomic_size_t *connections; /* how many there are, of all loops */
    struct clock *clock;
    int64_t idle_ms;
};

/* NULL: there is no daemon. */
struct loop *loop_start(const struct loop_options *options);
/* What such a daemon's MHD_OPTION_NOTIFY_CONNECTION is. */
void loop_notify(void *loop, struct MHD_Connection *connection, void **place,
                 enum MHD_ConnectionNotificationCode what);
/* A connected socket, which the daemon closes. From any thread. */
void loop_add(struct loop *loop, int fd_take);
/* More of a request is to come on this connection, within idle_ms from now; from libmicrohttpd's
 * callbacks. */
void loop_await(struct MHD_Connection *connection);
/* The request has come whole: its client has nothing to hurry with. From the same callbacks. */
void loop_await_nothing(struct MHD_Connection *connection);
/* An answer is sent. A client that has closed its side, and whose next request is not here already,
 * has nothing more to ask. From the same callbacks. */
void loop_await_next(struct MHD_Connection *connection);
/* Closes it, whatever libmicrohttpd is doing with it. From the same callbacks. */
void loop_close(struct MHD_Connection *connection);
/* MHD_resume_connection, and the thread is woken for it; from any thread. */
void loop_resume(struct MHD_Connection *connection);
/* Nothing is suspended, and nobody adds anything. Closes all connections. NULL is nothing. */
void loop_stop(struct loop *loop);

#endif
