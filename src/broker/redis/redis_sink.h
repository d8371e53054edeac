/* redis_sink: what is published to a Redis server: set as keys, pushed on a list, or added to a
 * stream. */
#ifndef BROKER_REDIS_SINK_H
#define BROKER_REDIS_SINK_H

#include "port/sink.h"

enum status redis_sink_check(struct bytes url, struct err *err);
/* Whether something could be published there, as far as that shows without publishing. OK with
 * words in err: these say what could not be looked at. */
enum status redis_sink_connect(const struct sink_options *options, struct err *err);
/* Connects when there is something to publish. */
struct sink *redis_sink_new(const struct sink_options *options);

#endif
