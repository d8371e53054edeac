/* rabbit_message: an AMQP delivery as a message. */
#ifndef BROKER_RABBIT_MESSAGE_H
#define BROKER_RABBIT_MESSAGE_H

#include <amqp.h>

#include "base/rng.h"
#include "broker/common/inflight.h"

/* The queue that deliveries come from. */
struct rabbit_origin {
    struct bytes vhost, queue;
    struct bytes id_path; /* see rabbit_url */
    struct rng *rng;      /* for new ids */
};

/* A delivery with its tag. Its id is the producer's message id, else what the path finds in the
 * body, else a new one. */
struct delivery *rabbit_message_read(const amqp_envelope_t *incoming,
                                     const struct rabbit_origin *origin, struct wall now);

#endif
