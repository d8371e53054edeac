/* rabbit_source: a queue of RabbitMQ as a source.
 *
 * Consumes with a bounded prefetch and acknowledges what is settled. Once a second it declares the
 * queue passively: the answer has the number of messages that wait, and confirms that all earlier
 * acknowledgements have arrived. */
#ifndef BROKER_RABBIT_SOURCE_H
#define BROKER_RABBIT_SOURCE_H

#include "port/broker.h"

/* INVALID: err says what is wrong with the URL. */
enum status rabbit_source_check(struct bytes url, struct err *err);
struct broker *rabbit_source_new(const struct broker_options *options);

#endif
