/* jq_wire: see the header. */
#include "jq/jq_wire.h"

#include <errno.h>
#include <unistd.h>

bool jq_wire_read(int fd, void *to, size_t len) {
    for (char *at = to; len > 0;) {
        ssize_t got = read(fd, at, len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        len -= (size_t)got;
    }
    return true;
}

bool jq_wire_write(int fd, const void *from, size_t len) {
    for (const char *at = from; len > 0;) {
        ssize_t put = write(fd, at, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        len -= (size_t)put;
    }
    return true;
}
