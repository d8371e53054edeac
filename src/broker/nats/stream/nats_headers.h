/* nats_headers: converts a message's headers to an envelope's. Pure.
 *
 * Content-Type and the key of a message that impound published are not headers there. The spelling
 * of the former is kept, for publishing the message again. */
#ifndef BROKER_NATS_HEADERS_H
#define BROKER_NATS_HEADERS_H

#include "core/message.h"

/* The header with a message's key. */
#define NATS_HEADERS_KEY "impound-key"

struct nats_headers {
    struct message *held; /* gets them, in memory of its own */
    struct rule_header *out;
    size_t room;
    struct bytes typed; /* the name of the header with its content type; empty: there is none */
};

struct nats_headers nats_headers(struct message *held); /* which has none so far */
/* At most ENVELOPE_HEADERS_MAX are kept. */
void nats_headers_add(struct nats_headers *headers, struct bytes name, struct bytes value);
/* There are no more. */
void nats_headers_end(struct nats_headers *headers);
/* All of them as they travel: "NATS/1.0\r\nname: value\r\n…\r\n". Returns `typed`. */
struct bytes nats_headers_read(struct bytes block, struct message *held);

#endif
