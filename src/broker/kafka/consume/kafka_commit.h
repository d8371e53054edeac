/* kafka_commit: commits how far the partitions of a consumer group are settled. */
#ifndef BROKER_KAFKA_COMMIT_H
#define BROKER_KAFKA_COMMIT_H

#include "broker/kafka/consume/kafka_group.h"

/* Commits, if something was settled, the time has come and no answer is awaited. */
void kafka_commit_some(struct kafka_group *group, struct mono now);
/* librdkafka's callback for the answer. */
void kafka_commit_answered(rd_kafka_t *client, rd_kafka_resp_err_t code,
                           rd_kafka_topic_partition_list_t *list, void *arg);
/* Before partitions are revoked: waits for the answer, for a bounded time, since their next owner
 * starts there. */
void kafka_commit_last(struct kafka_group *group);

#endif
