/* nats_consumer: the configuration and state of a JetStream consumer (the answer to CONSUMER.INFO).
 * Pure. */
#ifndef BROKER_NATS_CONSUMER_H
#define BROKER_NATS_CONSUMER_H

#include "base/json/json.h"

struct nats_consumer {
    int64_t pending;        /* messages that were not delivered yet */
    int64_t ack_pending;    /* delivered and not acknowledged */
    int64_t ack_wait_ms;    /* the shortest time until redelivery */
    int64_t max_batch;      /* of one pull; 0: no limit … */
    int64_t max_expires_ns; /* … nor of its time */
};

/* INVALID: impound cannot consume with it without losing messages; err says why. */
enum status nats_consumer_read(struct json info, struct nats_consumer *out, struct err *err);

#endif
