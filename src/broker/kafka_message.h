/* kafka_message: a record as a message. */
#ifndef BROKER_KAFKA_MESSAGE_H
#define BROKER_KAFKA_MESSAGE_H

#include <librdkafka/rdkafka.h>

#include "port/store.h"

/* The record copied byte for byte, headers in their order with repeated names, a null key as none.
 * A tombstone has no body, and says so in its source. */
struct store_held *kafka_message_new(const rd_kafka_message_t *record, struct bytes topic);
/* Tells records apart that stood at one offset of two topics of one name. */
uint64_t kafka_message_print(const rd_kafka_message_t *record);

#endif
