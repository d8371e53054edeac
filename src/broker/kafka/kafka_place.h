/* kafka_place: one partition that pointers lead to (kafka_pointer.h), with the records that are
 * wanted of it. What the cluster says about them is an answer to some: the record, or that it is
 * gone. */
#ifndef BROKER_KAFKA_PLACE_H
#define BROKER_KAFKA_PLACE_H

#include "broker/kafka/kafka_client.h"
#include "broker/kafka/kafka_hand.h"
#include "broker/kafka/kafka_message.h"
#include "broker/kafka/kafka_pointer.h"

struct kafka_want {
    struct kafka_pointer to;
    struct kafka_hand_record *record; /* the pointer, until it is answered */
};

struct kafka_place {
    struct kafka_url url; /* with the topic that is read */
    int32_t partition;
    struct kafka_want *wants; /* by offset */
    size_t count, next;       /* next: the first that was not answered */
    struct kafka_head head;   /* of its records' texts */
    struct pool *pool;        /* of what records become; NULL: none */
    rd_kafka_topic_t *topic;
    bool reading;   /* its records are on their way */
    struct err err; /* what was last said instead of an answer */
};

bool kafka_place_done(const struct kafka_place *place);    /* all are answered */
int64_t kafka_place_next(const struct kafka_place *place); /* the offset that is wanted next */
/* One of those that are not answered was written just now, as far as clocks of two sides tell. */
bool kafka_place_young(const struct kafka_place *place, struct wall now);

/* ---- answers ---- */

/* It is not there: all are gone. */
void kafka_place_missing(struct kafka_place *place, const char *why);
/* Those that are outside of the log, from low to before high, are gone. */
void kafka_place_span(struct kafka_place *place, int64_t low, int64_t high);
/* Reading has come to that offset, and gave nothing below it: those are gone. */
void kafka_place_pass(struct kafka_place *place, int64_t offset);
/* … and this record. */
void kafka_place_take(struct kafka_place *place, const rd_kafka_message_t *record);

#endif
