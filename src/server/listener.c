#include "server/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

enum status listener_open(const char *host, uint16_t wanted, int *fd, uint16_t *port,
                          struct err *err) {
    struct addrinfo *addresses;
    if (resolve(host, wanted, &addresses, err) != STATUS_OK)
        return STATUS_INVALID;
    *fd = open_at(addresses);
    int why = errno;
    freeaddrinfo(addresses);
    if (*fd >= 0) {
        *port = port_of(*fd);
        return STATUS_OK;
    }
    return err_set(err, why == EADDRINUSE ? STATUS_BUSY : STATUS_IO, "cannot listen at %s:%u: %s",
                   host, wanted, strerror(why));
}
