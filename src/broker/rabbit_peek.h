/* rabbit_peek: a queue of RabbitMQ, read without taking.
 *
 * Each message is got and not acknowledged, so that the next one comes; at the end of the pass all
 * go back at once, to where they were. Nobody else is given them meanwhile, and they are marked as
 * redelivered. A quorum queue counts that as a delivery: where its limit leaves a message fewer
 * than RABBIT_PEEK_LEFT_MIN, looking is forbidden. */
#ifndef BROKER_RABBIT_PEEK_H
#define BROKER_RABBIT_PEEK_H

#include "port/peek.h"

enum { RABBIT_PEEK_LEFT_MIN = 5 };

struct peek *rabbit_peek_new(const struct broker_options *options);

#endif
