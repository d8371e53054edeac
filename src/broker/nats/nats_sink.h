/* nats_sink: messages published to a stream of NATS JetStream, each confirmed by the server. */
#ifndef BROKER_NATS_SINK_H
#define BROKER_NATS_SINK_H

#include "port/sink.h"

/* INVALID: err says what is wrong with the URL. */
enum status nats_sink_check(struct bytes url, struct err *err);
/* Whether something could be published, found out without publishing. OK with a text in err: that
 * could not be found out. */
enum status nats_sink_connect(const struct sink_options *options, struct err *err);
/* Connects when there is something to publish. An item with an origin goes to the subject that it
 * came with. */
struct sink *nats_sink_new(const struct sink_options *options);

#endif
