/* kafka_lag: how far a consumer group is behind, from the ends of the logs. */
#ifndef BROKER_KAFKA_LAG_H
#define BROKER_KAFKA_LAG_H

#include "broker/kafka/consume/kafka_group.h"

/* When it is time: looks at the partitions that are ours, or at all while we are no member. */
void kafka_lag_look(struct kafka_group *group, struct mono now);

#endif
