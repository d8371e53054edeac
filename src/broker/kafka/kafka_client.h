/* kafka_client: the settings of every client of a Kafka cluster, and its errors as texts for
 * people. */
#ifndef BROKER_KAFKA_CLIENT_H
#define BROKER_KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>

#include "broker/kafka/kafka_url.h"

struct kafka_client_setting {
    const char *name, *value; /* value NULL: the setting is left as it is */
};

/* A client with these settings on top of what the URL says; its callbacks get `opaque`. NULL: err
 * says why, without secrets. */
rd_kafka_t *kafka_client_new(rd_kafka_type_t type, const struct kafka_url *url,
                             const struct kafka_client_setting *settings, size_t setting_count,
                             rd_kafka_conf_t *conf_take, void *opaque, struct err *err);

/* An error as a text for people. `detail` is librdkafka's own text, or NULL. */
enum status kafka_client_trouble(const struct kafka_url *url, rd_kafka_resp_err_t code,
                                 const char *detail, struct err *err);

/* Asks for a topic of the client's, or for all of them (NULL), and waits for the answer, which is
 * the caller's to destroy. */
rd_kafka_resp_err_t kafka_client_ask(rd_kafka_t *client, rd_kafka_topic_t *topic, int timeout_ms,
                                     const struct rd_kafka_metadata **metadata);
/* Asks for the topic and waits for the answer. OK: the cluster answers and has the topic, with so
 * many partitions. */
enum status kafka_client_probe(rd_kafka_t *client, const struct kafka_url *url, int timeout_ms,
                               size_t *partitions, struct err *err);

#endif
