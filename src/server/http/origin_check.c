#include "server/http/origin_check.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

enum { ORIGIN_CHECK_NAME_MAX = 256 };

/* "[::1]:7070" → "::1", "localhost:7070" → "localhost". */
static struct bytes without_port(struct bytes host) {
    if (host.len > 0 && host.ptr[0] == '[')
        return bytes_cut(host, 1, bytes_find(host, BYTES("]")));
    return bytes_cut(host, 0, bytes_find(host, BYTES(":")));
}

static bool is_address(struct bytes name, bool *loopback) {
    char text[ORIGIN_CHECK_NAME_MAX];
    if (name.len >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", BYTES_ARG(name));
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, text, &v4) == 1) {
        *loopback = (ntohl(v4.s_addr) >> 24) == 127;
        return true;
    }
    if (inet_pton(AF_INET6, text, &v6) == 1) {
        *loopback = IN6_IS_ADDR_LOOPBACK(&v6);
        return true;
    }
    return false;
}

static bool is_own_name(struct bytes name) {
    char own[ORIGIN_CHECK_NAME_MAX] = "";
    return gethostname(own, sizeof own - 1) == 0 && bytes_eq_nocase(name, bytes_of(own));
}

/* A server that listens on all addresses has no single host name. Any IP address is accepted,
 * because DNS rebinding needs a name, and so is the machine's own host name. */
static bool is_ours(struct bytes listen_host, struct bytes name) {
    bool loopback = false, address = is_address(name, &loopback);
    if (loopback || bytes_eq_nocase(name, BYTES("localhost")) || bytes_eq_nocase(name, listen_host))
        return true;
    bool everywhere = bytes_is(listen_host, "0.0.0.0") || bytes_is(listen_host, "::");
    return everywhere && (address || is_own_name(name));
}

static bool same_origin(struct bytes origin, struct bytes host) {
    static const struct bytes schemes[] = {BYTES("http://"), BYTES("https://")};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (bytes_starts(origin, schemes[i]) &&
            bytes_eq_nocase(bytes_cut(origin, schemes[i].len, origin.len), host))
            return true;
    }
    return false;
}

enum status origin_check(struct bytes listen_host, struct bytes host, struct bytes origin,
                         struct err *err) {
    if (host.ptr && !is_ours(listen_host, without_port(host)))
        return err_set(err, STATUS_FORBIDDEN,
                       "Host \"%.*s\" is not this server; use its address or localhost",
                       BYTES_ARG(bytes_clip(host, ORIGIN_CHECK_NAME_MAX)));
    if (origin.ptr && !same_origin(origin, host))
        return err_set(err, STATUS_FORBIDDEN,
                       "Origin \"%.*s\" is another site; only pages of this server may call it",
                       BYTES_ARG(bytes_clip(origin, ORIGIN_CHECK_NAME_MAX)));
    return STATUS_OK;
}
