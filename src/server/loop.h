/* loop: a thread that runs libmicrohttpd.
 *
 * libmicrohttpd has threads of its own, but one of those goes to sleep with 128 ready connections
 * in its hands whenever exactly 128 became ready at once: it asks once more whether there are
 * others, and waits for them. MHD_run never waits, so this thread does, on the same epoll and for
 * the connections that are kept between two requests (kept.h). */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include <microhttpd.h>
#include <stdatomic.h>

#include "server/kept.h"

struct loop;

struct loop_options {
    /* A daemon without a thread (MHD_USE_EPOLL), for which loop_notify is told of connections with
     * `loop` as its argument; NULL: it does not start. */
    struct MHD_Daemon *(*make)(void *arg, struct loop *loop);
    void *arg;
    atomic_size_t *connections; /* how many there are, of all loops */
    struct kept_options kept;
};

/* NULL: there is no daemon. */
struct loop *loop_start(const struct loop_options *options);
/* What such a daemon's MHD_OPTION_NOTIFY_CONNECTION is. */
void loop_notify(void *loop, struct MHD_Connection *connection, void **place,
                 enum MHD_ConnectionNotificationCode what);
/* Of a connection that such a daemon has. */
struct visit *loop_visit(struct MHD_Connection *connection);
/* A connected socket, which the daemon closes. From any thread. */
void loop_add(struct loop *loop, int fd_take);
/* MHD_resume_connection, and the thread is woken for it; from any thread. */
void loop_resume(struct MHD_Connection *connection);
/* Nothing is suspended, and nobody adds anything. Closes all connections. NULL is nothing. */
void loop_stop(struct loop *loop);

#endif
