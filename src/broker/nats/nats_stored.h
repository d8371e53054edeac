/* nats_stored: a message as its stream has it: the answer to STREAM.MSG.GET. Pure. */
#ifndef BROKER_NATS_STORED_H
#define BROKER_NATS_STORED_H

#include "core/message.h"

struct nats_stored {
    struct bytes subject; /* in the message's arena */
    struct bytes typed;   /* there, too; as nats_place.h has it */
    uint64_t sequence;
    struct wall at;
};

/* The message with its body, headers, key and content type, freed with message_free; the rest is
 * in *out, for its place to be named. NULL: the answer has none. */
struct message *nats_stored_read(struct json answer, struct nats_stored *out);

#endif
