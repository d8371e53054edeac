/* nats_message: a JetStream delivery as a message, and an item as a NATS message. */
#ifndef BROKER_NATS_MESSAGE_H
#define BROKER_NATS_MESSAGE_H

#include <nats/nats.h>

#include "broker/common/inflight.h"
#include "port/sink.h"

/* A delivery with the subject to acknowledge it on. Its id is STREAM:SEQUENCE. NULL: it is not from
 * JetStream. */
struct delivery *nats_message_read(natsMsg *message);

/* An item to publish, with its stamp for the server to know it again; the caller destroys it. Where
 * it has an origin, it goes to the subject that it had. Headers that meant something to the server
 * are left out, and those that NATS cannot carry. NULL: it has no subject, or there is no memory.
 */
natsMsg *nats_message_make(const struct sink_item *item, const char *subject, const char *reply);

#endif
