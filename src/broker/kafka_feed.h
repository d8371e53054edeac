/* kafka_feed: takes records from the partitions that are ours, some at a time of each, and sees to
 * it that librdkafka goes on reading ahead. */
#ifndef BROKER_KAFKA_FEED_H
#define BROKER_KAFKA_FEED_H

#include "broker/kafka_group.h"

/* Some of every partition in turn, as many as there is room for. True: there may be more. */
bool kafka_feed_read(struct kafka_group *group);

#endif
