/* rabbit_message: a delivery as a message of ours. */
#ifndef BROKER_RABBIT_MESSAGE_H
#define BROKER_RABBIT_MESSAGE_H

#include <amqp.h>

#include "broker/shelf.h"

/* Where deliveries come from. */
struct rabbit_place {
    struct bytes vhost, queue;
};

/* A parcel with its tag. Its id is the producer's message id, else a hash of everything that the
 * producer sent. `nameless` says which. */
struct parcel *rabbit_message_read(const amqp_envelope_t *delivery,
                                   const struct rabbit_place *place, struct wall now);

#endif
