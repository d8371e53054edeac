/* http: posts a message to a URL (DESIGN §5). All HTTP handlers share one pool: one thread, one
 * libcurl multi handle, keep-alive connections. */
#ifndef HANDLER_HTTP_HTTP_H
#define HANDLER_HTTP_HTTP_H

#include "port/clock.h"
#include "port/handler.h"

struct http_pool;

struct http_options {
    struct bytes url;
    int64_t timeout_ms;
    const struct rule_header *headers; /* sent with every call; they override the message's own */
    size_t header_count;
    struct bytes ca_file; /* empty: the system's */
    struct bytes
        secret; /* key of the signature of every request (http_signature.h); empty: not signed */
};

struct http_pool *http_pool_new(struct clock *clock, struct bytes version);
/* After all its handlers were freed. */
void http_pool_free(struct http_pool *pool);
/* Copies the options. */
struct handler *http_new(struct http_pool *pool, const struct http_options *options);

#endif
