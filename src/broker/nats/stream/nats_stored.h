/* nats_stored: a message as its stream has it: the answer to STREAM.MSG.GET. Asking for one by its
 * sequence changes nothing at any consumer. */
#ifndef BROKER_NATS_STORED_H
#define BROKER_NATS_STORED_H

#include "broker/nats/nats_connection.h"
#include "core/message.h"

struct nats_stored {
    struct bytes subject; /* in the message's arena */
    struct bytes typed;   /* there, too; as in nats_coordinates.h */
    uint64_t sequence;
    struct wall at;
};

/* The message with its body, headers, key and content type, freed with message_free; the rest is
 * in *out, for its coordinates. NULL: the answer has none. */
struct message *nats_stored_read(struct json answer, struct nats_stored *out);

struct nats_fetch {
    struct bytes domain; /* of JetStream; empty: the server's own */
    struct bytes stream;
    uint64_t sequence;
    struct bytes filter; /* not empty: the first one from there on whose subject matches */
};

/* NOT_FOUND: there is no such message; err has the server's text. Anything else: the server could
 * not be asked. */
enum status nats_stored_fetch(struct nats_connection *connection, const struct nats_fetch *fetch,
                              struct message **held, struct nats_stored *stored, struct err *err);

#endif
