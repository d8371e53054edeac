/* kafka_source: a consumer group's share of a topic as a source. Built with librdkafka only.
 *
 * A message is topic/partition/offset. It is settled by committing its partition's offset, which
 * happens when all before it are settled too (offset_tracker.h). */
#ifndef BROKER_KAFKA_SOURCE_H
#define BROKER_KAFKA_SOURCE_H

#include "port/broker.h"

enum status kafka_source_check(struct bytes url, struct err *err);
struct broker *kafka_source_new(const struct broker_options *options);

#endif
