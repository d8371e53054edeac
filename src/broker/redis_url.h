/* redis_url: redis://[USER:PASSWORD@]HOST[:PORT]/DATABASE?name=value&… taken apart. Pure. */
#ifndef BROKER_REDIS_URL_H
#define BROKER_REDIS_URL_H

#include "base/arena.h"
#include "base/status.h"

enum { REDIS_URL_PORT = 6379, REDIS_URL_DATABASE_MAX = 65535 };

/* Where in a key the message's id stands. */
#define REDIS_URL_ID "{id}"

struct redis_url {
    struct bytes host;
    uint16_t port;
    uint32_t database;
    struct bytes user, password; /* empty: none */
    struct bytes key;            /* result:{id}; it has REDIS_URL_ID in it */
    int64_t ttl_ms;              /* 0: for ever */
};

/* Percent-encoded parts are decoded. Slices of `text` and of the arena (heap). INVALID: err says
 * what is wrong with it. */
enum status redis_url_parse(struct bytes text, struct arena *arena, struct redis_url *out,
                            struct err *err);

#endif
