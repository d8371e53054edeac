/* rabbit_peek: a queue of RabbitMQ, read without consuming.
 *
 * AMQP cannot browse a queue, so messages are consumed in batches and not acknowledged: after
 * RABBIT_PEEK_BATCH messages a consumer is cancelled, and the next one continues. At the end of the
 * pass all messages are requeued in their positions. Meanwhile no other consumer gets them, and
 * afterwards they are marked as redelivered. A quorum queue counts that as a delivery: where its
 * limit leaves a message fewer than RABBIT_PEEK_LEFT_MIN, peeking is forbidden. */
#ifndef BROKER_RABBIT_PEEK_H
#define BROKER_RABBIT_PEEK_H

#include "port/peek.h"

enum {
    RABBIT_PEEK_LEFT_MIN = 5,
    RABBIT_PEEK_BATCH = 512,      /* messages of one consumer; to get them one by one is slow */
    RABBIT_PEEK_SILENCE_MAX = 10, /* waits without a message, while the queue reports some */
};

struct peek *rabbit_peek_new(const struct broker_options *options);

#endif
