/* kafka_message: a record as a message. */
#ifndef BROKER_KAFKA_MESSAGE_H
#define BROKER_KAFKA_MESSAGE_H

#include <librdkafka/rdkafka.h>

#include "core/message.h"

/* The beginning of the id and the source of every record of a partition. */
enum { KAFKA_HEAD_ID_MAX = 256, KAFKA_HEAD_SOURCE_MAX = 1024 };
struct kafka_head {
    char id[KAFKA_HEAD_ID_MAX], source[KAFKA_HEAD_SOURCE_MAX];
    size_t id_len, source_len;
};

void kafka_message_head(struct bytes topic, int32_t partition, struct kafka_head *out);
/* The record copied byte for byte, headers in their order with repeated names, a null key as none.
 * A tombstone has no body, and a header may have no value: the source says so. */
struct message *kafka_message_new(const rd_kafka_message_t *record, const struct kafka_head *head,
                                  struct pool *pool);
/* A hash of the record's contents: it tells records apart that had one offset in two topics of one
 * name. */
uint64_t kafka_message_print(const rd_kafka_message_t *record);

#endif
