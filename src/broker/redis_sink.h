/* redis_sink: answers set as keys of a Redis server. */
#ifndef BROKER_REDIS_SINK_H
#define BROKER_REDIS_SINK_H

#include "port/sink.h"

enum status redis_sink_check(struct bytes url, struct err *err);
/* Connects when there is something to publish. */
struct sink *redis_sink_new(const struct sink_options *options);

#endif
