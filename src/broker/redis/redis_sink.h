/* redis_sink: publishes to a Redis server: sets keys, pushes to a list, or adds to a stream. */
#ifndef BROKER_REDIS_SINK_H
#define BROKER_REDIS_SINK_H

#include "port/sink.h"

enum status redis_sink_check(struct bytes url, struct err *err);
/* Whether something could be published, found out without publishing. OK with a text in err: that
 * could not be found out. */
enum status redis_sink_connect(const struct sink_options *options, struct err *err);
/* Connects when there is something to publish. */
struct sink *redis_sink_new(const struct sink_options *options);

#endif
