/* nats_ack: the reply subject of a message that JetStream delivered. It has the coordinates of the
 * message, and is the subject to acknowledge it on. Pure.
 *
 *   $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<ns>.<pending>
 *   $JS.ACK.<domain>.<account>.<stream>.<consumer>.<delivered>.….<pending>[.<random>] */
#ifndef BROKER_NATS_ACK_H
#define BROKER_NATS_ACK_H

#include "base/bytes.h"
#include "base/instant.h"

struct nats_ack {
    struct bytes domain; /* empty: none, which the server writes as _ */
    struct bytes stream, consumer;
    uint64_t delivered; /* how often, this time included */
    uint64_t sequence;  /* in the stream */
    struct wall stored_at;
    uint64_t pending; /* messages after it */
};

/* Slices of `reply`. False: it is not such a subject. */
bool nats_ack_parse(struct bytes reply, struct nats_ack *out);

#endif
