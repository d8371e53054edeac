/* kafka_sink: messages published to a Kafka topic by an idempotent producer, each acknowledged by
 * all replicas that are in sync. Built with librdkafka only. */
#ifndef BROKER_KAFKA_SINK_H
#define BROKER_KAFKA_SINK_H

#include "port/sink.h"

/* INVALID: err says what is wrong with the URL. */
enum status kafka_sink_check(struct bytes url, struct err *err);
/* Whether something could be published, found out without publishing. A missing topic is trouble,
 * and is not created. */
enum status kafka_sink_connect(const struct sink_options *options, struct err *err);
/* Connects when there is something to publish. An item with an origin goes to the topic and
 * partition that it was consumed from. */
struct sink *kafka_sink_new(const struct sink_options *options);

#endif
