/* kafka_url: kafka://[USER:PASSWORD@]HOST[:PORT][,HOST…]/TOPIC?name=value&… as the Kafka adapter
 * reads it. Pure. */
#ifndef BROKER_KAFKA_URL_H
#define BROKER_KAFKA_URL_H

#include "broker/common/url.h"

enum {
    KAFKA_URL_PORT = 9092,
    KAFKA_URL_TOPIC_MAX = 224, /* bytes: topic/partition/offset is at most 255, as ids are */
    KAFKA_URL_SESSION_MS = 10000,
    KAFKA_URL_SESSION_LEAST_MS = 1000,
    KAFKA_URL_SESSION_MOST_MS = 300000,
};

struct kafka_url {
    bool tls;             /* kafkas:// */
    struct bytes servers; /* HOST:PORT,HOST:PORT… */
    struct bytes topic;
    struct bytes user, password; /* SASL; ptr NULL: none */
    struct bytes mechanism;      /* of SASL: `sasl=`; PLAIN unless given */
    struct bytes ca_file;        /* tls: `ca=`, a PEM file; empty: the system's */
    /* A source's: */
    struct bytes group;

    int64_t session_ms; /* the session timeout of the group */
};

/* Texts live in the arena (heap) and end in NUL. INVALID: err says what is wrong with it. */
enum status kafka_url_source(struct bytes text, struct arena *arena, struct kafka_url *out,
                             struct err *err);
/* A source's URL for peeking: it need not name a group. */
enum status kafka_url_peek(struct bytes text, struct arena *arena, struct kafka_url *out,
                           struct err *err);
enum status kafka_url_check_peek(struct bytes text, struct err *err);
enum status kafka_url_sink(struct bytes text, struct arena *arena, struct kafka_url *out,
                           struct err *err);

#endif
