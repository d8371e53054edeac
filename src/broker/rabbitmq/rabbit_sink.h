/* rabbit_sink: messages published to RabbitMQ, each confirmed by the server and routed to at least
 * one queue. */
#ifndef BROKER_RABBIT_SINK_H
#define BROKER_RABBIT_SINK_H

#include "port/sink.h"

/* INVALID: err says what is wrong with the URL. */
enum status rabbit_sink_check(struct bytes url, struct err *err);
/* Whether something could be published, found out without publishing. OK with a text in err: that
 * could not be found out. */
enum status rabbit_sink_connect(const struct sink_options *options, struct err *err);
/* Connects when there is something to publish. An item with an origin goes to the queue that it was
 * consumed from, with the properties that it had. */
struct sink *rabbit_sink_new(const struct sink_options *options);

#endif
