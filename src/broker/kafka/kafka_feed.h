/* kafka_feed: takes records from the partitions that are ours, some at a time of each, follows the
 * pointers among them, and sees to it that librdkafka goes on reading ahead. */
#ifndef BROKER_KAFKA_FEED_H
#define BROKER_KAFKA_FEED_H

#include "broker/kafka/kafka_group.h"

/* Some of every partition in turn, as many as there is room for. True: there may be more. */
bool kafka_feed_read(struct kafka_group *group);
/* Pointers are followed, for a bounded time; what cannot be is tried again a little later, and its
 * partition is not read further until then. True: there may be more. */
bool kafka_feed_follow(struct kafka_group *group, struct clock *clock);
bool kafka_feed_has_pointer(const struct kafka_group *group); /* one is to be followed */

#endif
