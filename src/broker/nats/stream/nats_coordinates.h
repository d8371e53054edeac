/* nats_coordinates: the coordinates of a JetStream message, as envelopes have them. Pure. */
#ifndef BROKER_NATS_COORDINATES_H
#define BROKER_NATS_COORDINATES_H

#include "core/message.h"

#define NATS_COORDINATES_TYPED "typed"

struct nats_coordinates {
    struct bytes stream;
    struct bytes consumer; /* which delivered it; empty: none did */
    struct bytes subject;  /* empty: unknown */
    struct bytes typed;    /* the header with its content type; empty: none */
    uint64_t sequence;     /* in the stream */
    uint64_t delivered;    /* how often, this time included; 0: never */
};

/* Sets a message's id, STREAM:SEQUENCE, and its source, an object with "kind" and what is known. */
void nats_coordinates_name(const struct nats_coordinates *coordinates, struct message *held);
/* The members of that object; the caller opens and closes it. */
void nats_coordinates_put(const struct nats_coordinates *coordinates, struct json_out *out);

#endif
