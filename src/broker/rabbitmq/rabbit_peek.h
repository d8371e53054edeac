/* rabbit_peek: a queue of RabbitMQ, read without taking.
 *
 * What waits is consumed in batches and not acknowledged: a consumer that has as many as it may is
 * cancelled, and the next one goes on behind it. At the end of the pass all go back at once, to
 * where they were. Nobody else is given them meanwhile, and they are marked as redelivered. A
 * quorum queue counts that as a delivery: where its limit leaves a message fewer than
 * RABBIT_PEEK_LEFT_MIN, looking is forbidden. */
#ifndef BROKER_RABBIT_PEEK_H
#define BROKER_RABBIT_PEEK_H

#include "port/peek.h"

enum {
    RABBIT_PEEK_LEFT_MIN = 5,
    RABBIT_PEEK_BATCH = 512,      /* messages of one consumer; to get each by itself is slow */
    RABBIT_PEEK_SILENCE_MAX = 10, /* waits without a message, while some are there */
};

struct peek *rabbit_peek_new(const struct broker_options *options);

#endif
