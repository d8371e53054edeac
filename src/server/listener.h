/* listener: the socket that the server listens at. */
#ifndef SERVER_LISTENER_H
#define SERVER_LISTENER_H

#include <stdint.h>

#include "base/status.h"

enum { LISTENER_BACKLOG = 1024 };

/* BUSY: the address is in use. INVALID: there is no such host. *port is the one that was asked for,
 * or the one that was free. The caller closes *fd. */
enum status listener_open(const char *host, uint16_t wanted, int *fd, uint16_t *port,
                          struct err *err);

#endif
