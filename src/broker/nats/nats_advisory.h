/* nats_advisory: what JetStream tells when a consumer has given a message up: it was delivered as
 * often as may be, or was terminated (WIRE 1.10). It points at the message, and is all that is
 * there. Pure. */
#ifndef BROKER_NATS_ADVISORY_H
#define BROKER_NATS_ADVISORY_H

#include "broker/nats/nats_coordinates.h"

struct nats_advisory {
    struct nats_coordinates coordinates; /* of the message, without its subject */
    struct bytes domain;                 /* of JetStream; empty: not said */
};

/* Whether a message on that subject is such an advisory. */
bool nats_advisory_is(struct bytes subject);
/* Texts live in the arena. False: it does not say which message. */
bool nats_advisory_read(struct json advisory, struct arena *arena, struct nats_advisory *out);

#endif
