/* rabbit_group: the messages that a RabbitMQ sink sends before it reads the answers, and the answer
 * to each. Used by one thread. */
#ifndef BROKER_RABBIT_GROUP_H
#define BROKER_RABBIT_GROUP_H

#include <amqp.h>

#include "base/arena.h"
#include "base/status.h"
#include "port/sink.h"

enum { RABBIT_GROUP_MAX = 64 };

/* One item under way. */
struct rabbit_shipment {
    struct sink_item *item;
    uint64_t tag; /* 0: not sent */
    struct bytes exchange, routing_key;
    struct bytes queue; /* where it goes if the exchange routes it to no queue; empty: nowhere */
    amqp_basic_properties_t properties; /* the group's and the item's */
    bool answered;
    struct err err; /* status OK: it arrived */
};

struct rabbit_group {
    struct rabbit_shipment shipments[RABBIT_GROUP_MAX];
    size_t count, open; /* open: without an answer */
    struct arena arena;
    amqp_pool_t pool;
};

/* Adds an item to a group that was not sent. False: it goes into the next. An item with a body
 * larger than `limit` (0: there is none) goes alone: the server may close the channel because of
 * it. */
bool rabbit_group_add(struct rabbit_group *group, struct sink_item *item, uint64_t limit);
/* Initialises the group, of which only the items and their count are set. */
void rabbit_group_begin(struct rabbit_group *group);
/* The server confirmed, or refused, the message with the tag; `multiple`: and all that were sent
 * before it. */
void rabbit_group_confirm(struct rabbit_group *group, uint64_t tag, bool multiple, bool taken);
/* A message was returned as unroutable; its confirm follows. False: it is not one of the group, so
 * that a confirm cannot be assigned to a message. */
bool rabbit_group_return(struct rabbit_group *group, const amqp_basic_return_t *back,
                         const amqp_message_t *message);
/* Messages that an exchange routed to no queue, and that name a queue, are unsent again and
 * addressed to that queue. How many these are. */
size_t rabbit_group_redirect(struct rabbit_group *group);
/* The largest body that the server accepts, from the text with which it closed the channel; 0: the
 * text is about something else. */
uint64_t rabbit_group_size_limit(struct bytes words);
/* Messages that are larger are refused with that, sent or not. */
void rabbit_group_refuse_larger(struct rabbit_group *group, uint64_t limit);
/* A message that can never be sent. */
void rabbit_group_refuse(struct rabbit_group *group, struct rabbit_shipment *shipment,
                         const struct err *err);
/* Answers every item. Those without an answer have failed with err, which is NULL when all have
 * one. */
void rabbit_group_finish(struct rabbit_group *group, const struct err *err);

#endif
