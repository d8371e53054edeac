/* config_address: host:port, alone and inside an http URL. */
#ifndef CONFIG_CONFIG_ADDRESS_H
#define CONFIG_CONFIG_ADDRESS_H

#include "base/bytes.h"

struct config_address {
    struct bytes host; /* without the brackets of IPv6 */
    uint16_t port;
    bool has_port;
};

/* "127.0.0.1:7070", "[::1]:7070", "localhost". False: it is none of these. */
bool config_address_parse(struct bytes text, struct config_address *out);
/* 127.0.0.0/8, ::1, localhost. */
bool config_address_is_loopback(struct bytes host);
/* http:// or https://, a host, no white space. */
bool config_address_is_http(struct bytes url);

#endif
