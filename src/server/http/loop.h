/* loop: a thread that runs libmicrohttpd, and the deadlines of its clients.
 *
 * libmicrohttpd can run threads of its own, but its epoll loop has a bug: if exactly 128
 * connections become ready at once, it calls epoll_wait again before it serves them, and sleeps
 * until another event arrives. MHD_run does not wait, so this thread waits on the same epoll.
 *
 * A request line and headers must arrive completely within `idle_ms` of the start of the connection
 * or of the previous answer, and each part of a body within `idle_ms` of the part before it;
 * otherwise the connection is closed. libmicrohttpd's own timeout restarts with every byte, so that
 * a slow client could hold a connection for days. It remains in use for clients that do not read
 * their answer. */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdint.h>

#include "port/clock.h"

struct loop;

struct loop_options {
    /* Starts a daemon without a thread (MHD_USE_EPOLL) that calls loop_notify with `loop` as its
     * argument. NULL: it does not start. */
    struct MHD_Daemon *(*make)(void *arg, struct loop *loop);
    void *arg;
    atomic_size_t *connections; /* open connections of all loops */
    struct clock *clock;
    int64_t idle_ms;
};

/* NULL: there is no daemon. */
struct loop *loop_start(const struct loop_options *options);
/* The daemon's MHD_OPTION_NOTIFY_CONNECTION callback. */
void loop_notify(void *loop, struct MHD_Connection *connection, void **place,
                 enum MHD_ConnectionNotificationCode what);
/* Gives a connected socket to the daemon, which closes it. From any thread. */
void loop_add(struct loop *loop, int fd_take);
/* The next part of a request must arrive within idle_ms from now. From libmicrohttpd's callbacks.
 */
void loop_await(struct MHD_Connection *connection);
/* The request has arrived completely: no deadline applies until the next one. From the same
 * callbacks. */
void loop_await_nothing(struct MHD_Connection *connection);
/* The answer has been sent; the next request must arrive within idle_ms. If the client has shut
 * down its side and no further request was read, the connection is closed. From the same callbacks.
 */
void loop_await_next(struct MHD_Connection *connection);
/* Closes the connection without an answer, whatever state libmicrohttpd has it in. From the same
 * callbacks. */
void loop_close(struct MHD_Connection *connection);
/* Calls MHD_resume_connection and wakes the loop's thread for it; from any thread. */
void loop_resume(struct MHD_Connection *connection);
/* Closes all connections. No connection may be suspended, and loop_add may not be called any more.
 * NULL is allowed. */
void loop_stop(struct loop *loop);

#endif
