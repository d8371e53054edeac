/* kafka_follow: reads the records that pointers refer to (kafka_pointer.h), with a client of its
 * own that joins no group and commits nothing. The record is an answer, and so is that it no longer
 * exists; without an answer, or without permission to read, the pointer stays as it is and is
 * followed again later. */
#ifndef BROKER_KAFKA_FOLLOW_H
#define BROKER_KAFKA_FOLLOW_H

#include "broker/kafka/kafka_client.h"
#include "broker/kafka/consume/kafka_inflight.h"
#include "port/clock.h"

struct kafka_follow {
    const struct kafka_url *url; /* of the cluster */
    struct pool *pool;           /* of what records become; NULL: none */
    rd_kafka_t *client;          /* NULL: not made */
};

/* Follows some of the pointers among the records, the first ones, and waits until then at most.
 * OK: the first was answered. Else err says why not. */
enum status kafka_follow_some(struct kafka_follow *follow, struct kafka_inflight_record *records,
                              size_t count, struct clock *clock, struct mono until,
                              struct err *err);
/* Ends the client; another is made when it is needed. */
void kafka_follow_close(struct kafka_follow *follow);

#endif
