/* nats_fetch: one message out of a stream, by its sequence, which no consumer hears of. */
#ifndef BROKER_NATS_FETCH_H
#define BROKER_NATS_FETCH_H

#include "broker/nats/nats_connection.h"
#include "broker/nats/nats_stored.h"

struct nats_fetch {
    struct bytes domain; /* of JetStream; empty: the server's own */
    struct bytes stream;
    uint64_t sequence;
    struct bytes filter; /* not empty: the first one from there on whose subject matches */
};

/* NOT_FOUND: the server says that there is none; err has its words. Anything else: it could not be
 * asked. */
enum status nats_fetch(struct nats_connection *connection, const struct nats_fetch *fetch,
                       struct message **held, struct nats_stored *stored, struct err *err);

#endif
