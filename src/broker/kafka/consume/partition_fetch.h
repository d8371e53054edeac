/* partition_fetch: the records of one partition that pointers lead to (kafka_pointer.h). Each
 * answer of the cluster resolves some of them: to the record, or to the fact that it is gone. */
#ifndef BROKER_PARTITION_FETCH_H
#define BROKER_PARTITION_FETCH_H

#include "broker/kafka/kafka_client.h"
#include "broker/kafka/consume/kafka_inflight.h"
#include "broker/kafka/kafka_message.h"
#include "broker/kafka/kafka_pointer.h"

struct kafka_want {
    struct kafka_pointer to;
    struct kafka_inflight_record *record; /* the pointer, until it is answered */
};

struct partition_fetch {
    struct kafka_url url; /* with the topic that is read */
    int32_t partition;
    struct kafka_want *wants; /* by offset */
    size_t count, next;       /* next: the first that was not answered */
    struct kafka_head head;   /* of its records' texts */
    struct pool *pool;        /* for the messages that records become; NULL: none */
    rd_kafka_topic_t *topic;
    bool reading;   /* reading has begun */
    struct err err; /* the last error */
};

bool partition_fetch_done(const struct partition_fetch *fetch); /* all are answered */
int64_t
partition_fetch_next(const struct partition_fetch *fetch); /* the offset that is wanted next */
/* One of the unanswered pointers was written just now, as far as the clocks of two machines can
 * tell. */
bool partition_fetch_young(const struct partition_fetch *fetch, struct wall now);

/* ---- answers ---- */

/* The partition does not exist: all records are gone. */
void partition_fetch_missing(struct partition_fetch *fetch, const char *why);
/* Records outside of the log, which goes from low to before high, are gone. */
void partition_fetch_span(struct partition_fetch *fetch, int64_t low, int64_t high);
/* Reading has reached that offset without a record below it: those below are gone. */
void partition_fetch_pass(struct partition_fetch *fetch, int64_t offset);
/* … and this record. */
void partition_fetch_take(struct partition_fetch *fetch, const rd_kafka_message_t *record);

#endif
