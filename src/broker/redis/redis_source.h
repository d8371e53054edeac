/* redis_source: a Redis list, a stream's consumer group or a sorted set as a source. */
#ifndef BROKER_REDIS_SOURCE_H
#define BROKER_REDIS_SOURCE_H

#include "port/broker.h"

enum status redis_source_check(struct bytes url, struct err *err);
struct broker *redis_source_new(const struct broker_options *options);

#endif
