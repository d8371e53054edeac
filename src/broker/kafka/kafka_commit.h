/* kafka_commit: tells a consumer group how far its partitions are settled. */
#ifndef BROKER_KAFKA_COMMIT_H
#define BROKER_KAFKA_COMMIT_H

#include "broker/kafka/kafka_group.h"

/* Sends what was settled, if there is something, it is time to and no answer is awaited. */
void kafka_commit_some(struct kafka_group *group, struct mono now);
/* librdkafka's callback for the answer. */
void kafka_commit_answered(rd_kafka_t *client, rd_kafka_resp_err_t code,
                           rd_kafka_topic_partition_list_t *list, void *arg);
/* Before partitions are let go: waits for the answer, for a bounded time, since who gets them next
 * begins there. */
void kafka_commit_last(struct kafka_group *group);

#endif
