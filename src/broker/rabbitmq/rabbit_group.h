/* rabbit_group: what a RabbitMQ sink sends before it reads the answers, and what the answers say of
 * each. One thread's. */
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

/* Puts another item into a group that has not begun. False: it goes with the next. One with a body
 * larger than `limit` (0: there is none) goes alone: a channel that ends by it takes nobody along.
 */
bool rabbit_group_add(struct rabbit_group *group, struct sink_item *item, uint64_t limit);
/* Nothing else of the group is set yet but its items and their count. */
void rabbit_group_begin(struct rabbit_group *group);
/* The server took, or did not take, the one with the tag; `multiple`: and all that were sent before
 * it. */
void rabbit_group_confirm(struct rabbit_group *group, uint64_t tag, bool multiple, bool taken);
/* One that no queue takes came back; it is confirmed after that. False: it is none of the group, so
 * that nobody knows which of them a confirm is true of. */
bool rabbit_group_return(struct rabbit_group *group, const amqp_basic_return_t *back,
                         const amqp_message_t *message);
/* Those that an exchange routed to no queue, and that have a queue of their own, are unsent again
 * and addressed to it. How many that are. */
size_t rabbit_group_redirect(struct rabbit_group *group);
/* The largest body that a server takes, from its words at the end of a channel; 0: they are of
 * something else. */
uint64_t rabbit_group_size_limit(struct bytes words);
/* Those that are larger have their answer with that, sent or not. */
void rabbit_group_refuse_larger(struct rabbit_group *group, uint64_t limit);
/* One that never can be sent. */
void rabbit_group_refuse(struct rabbit_group *group, struct rabbit_shipment *shipment,
                         const struct err *err);
/* Tells everybody. What has no answer has failed with err, which is NULL when all have one. */
void rabbit_group_finish(struct rabbit_group *group, const struct err *err);

#endif
