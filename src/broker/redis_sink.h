/* redis_sink: answers set as keys of a Redis server. */
#ifndef BROKER_REDIS_SINK_H
#define BROKER_REDIS_SINK_H

#include "broker/redis_url.h"
#include "port/clock.h"
#include "port/sink.h"

/* Connects when there is something to publish. The texts of `url` are copied. */
struct sink *redis_sink_new(const struct redis_url *url, struct clock *clock);

#endif
