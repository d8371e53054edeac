/* listener: the listening socket, and the thread that accepts connections from it.
 *
 * libmicrohttpd is not used for this: after an accept that failed for want of descriptors it
 * accepts nothing until one of its own connections closes, and these may be event streams, which
 * stay open. */
#ifndef SERVER_LISTENER_H
#define SERVER_LISTENER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct listener;

struct listener_options {
    void (*hand_over)(void *arg,
                      int fd_take); /* a new connection; called on the listener's thread */
    void *arg;
    size_t connections_max;           /* further clients wait in the listen backlog */
    const atomic_size_t *connections; /* open connections; counted by the caller */
};

/* Listening when it returns OK, but accepting nothing before listener_start. Port 0: any free one.
 * BUSY: the address is in use. INVALID: there is no such host. */
enum status listener_new(const char *host, uint16_t port, struct listener **out, struct err *err);
uint16_t listener_port(const struct listener *listener);
void listener_start(struct listener *listener, const struct listener_options *options);
/* Closes the socket; no more connections are accepted. NULL is allowed. */
void listener_free(struct listener *listener);

#endif
