/* rabbit_source: a queue of RabbitMQ as a source.
 *
 * Consumes with a bounded prefetch, acknowledges what is settled, and learns by asking for the
 * queue once a second how many wait there and that everything before was heard. */
#ifndef BROKER_RABBIT_SOURCE_H
#define BROKER_RABBIT_SOURCE_H

#include "port/broker.h"

/* INVALID: err says what is wrong with the URL. */
enum status rabbit_source_check(struct bytes url, struct err *err);
struct broker *rabbit_source_new(const struct broker_options *options);

#endif
