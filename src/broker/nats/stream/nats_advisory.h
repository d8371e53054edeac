/* nats_advisory: what JetStream publishes when a consumer gives a message up: the message reached
 * max_deliver, or was terminated (WIRE 1.10). It refers to the message by its sequence, and has no
 * copy of it. Pure. */
#ifndef BROKER_NATS_ADVISORY_H
#define BROKER_NATS_ADVISORY_H

#include "broker/nats/stream/nats_coordinates.h"

struct nats_advisory {
    struct nats_coordinates coordinates; /* of the message, without its subject */
    struct bytes domain;                 /* of JetStream; empty: not given */
};

/* Whether a message on that subject is such an advisory. */
bool nats_advisory_is(struct bytes subject);
/* Texts live in the arena. False: the message is not named. */
bool nats_advisory_read(struct json advisory, struct arena *arena, struct nats_advisory *out);

#endif
