#include "config/config_address.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/text/ascii.h"

static bool host_char(char c) {
    return ascii_is_alnum(c) || c == '.' || c == '-' || c == '_';
}

static bool is_ip(int family, struct bytes host, unsigned char address[sizeof(struct in6_addr)]) {
    char text[INET6_ADDRSTRLEN];
    if (host.len >= sizeof text)
        return false;
    memcpy(text, host.ptr ? host.ptr : "", host.len);
    text[host.len] = '\0';
    return inet_pton(family, text, address) == 1;
}

/* Removes the host from the front. */
static bool take_host(struct bytes *rest, struct bytes *host) {
    unsigned char address[sizeof(struct in6_addr)];
    size_t end = 0;
    if (bytes_starts(*rest, BYTES("["))) {
        end = bytes_find(*rest, BYTES("]"));
        *host = bytes_cut(*rest, 1, end);
        *rest = bytes_cut(*rest, end + 1, rest->len);
        return is_ip(AF_INET6, *host, address);
    }
    while (end < rest->len && host_char(rest->ptr[end]))
        end++;
    *host = bytes_cut(*rest, 0, end);
    *rest = bytes_cut(*rest, end, rest->len);
    return end > 0;
}

bool config_address_parse(struct bytes text, struct config_address *out) {
    uint64_t port;
    *out = (struct config_address){0};
    if (!take_host(&text, &out->host))
        return false;
    if (text.len == 0)
        return true;
    if (text.ptr[0] != ':' || !bytes_u64(bytes_cut(text, 1, text.len), &port) || port > UINT16_MAX)
        return false;
    out->port = (uint16_t)port;
    out->has_port = true;
    return true;
}

bool config_address_is_loopback(struct bytes host) {
    unsigned char address[sizeof(struct in6_addr)];
    if (is_ip(AF_INET, host, address))
        return address[0] == 127;
    if (is_ip(AF_INET6, host, address))
        return memcmp(address, &in6addr_loopback, sizeof address) == 0;
    return bytes_eq_nocase(host, BYTES("localhost"));
}

static bool has_blank(struct bytes text) {
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
            return true;
    return false;
}

bool config_address_is_http(struct bytes url) {
    struct config_address address;
    size_t scheme = bytes_starts(url, BYTES("http://"))    ? strlen("http://")
                    : bytes_starts(url, BYTES("https://")) ? strlen("https://")
                                                           : 0;
    if (!scheme || has_blank(url))
        return false;
    struct bytes rest = bytes_cut(url, scheme, url.len);
    size_t end = 0, user = 0;
    for (; end < rest.len && !strchr("/?#", rest.ptr[end]); end++)
        if (rest.ptr[end] == '@')
            user = end + 1;
    return config_address_parse(bytes_cut(rest, user, end), &address) &&
           !(address.has_port && address.port == 0);
}
