/* kafka_feed: takes records from the assigned partitions, some of each in turn, follows the
 * pointers among them, and keeps librdkafka reading ahead. */
#ifndef BROKER_KAFKA_FEED_H
#define BROKER_KAFKA_FEED_H

#include "broker/kafka/consume/kafka_group.h"

/* Takes records of every partition in turn, as many as there is room for. True: there may be more.
 */
bool kafka_feed_read(struct kafka_group *group);
/* Follows pointers, for a bounded time; one that cannot be followed is tried again later, and its
 * partition is not read further until then. True: there may be more. */
bool kafka_feed_follow(struct kafka_group *group, struct clock *clock);
bool kafka_feed_has_pointer(const struct kafka_group *group); /* one is to be followed */

#endif
