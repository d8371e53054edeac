#include "broker/rabbitmq/rabbit_group.h"

#include "broker/rabbitmq/rabbit_connection.h"
#include "broker/rabbitmq/rabbit_properties.h"

enum { RABBIT_POOL_PAGE = 4096 };

static bool goes_alone(const struct sink_item *item, uint64_t limit) {
    return limit > 0 && item->body.len > limit;
}

bool rabbit_group_add(struct rabbit_group *group, struct sink_item *item, uint64_t limit) {
    bool crowded =
        group->count == RABBIT_GROUP_MAX ||
        (group->count > 0 &&
         (goes_alone(item, limit) || goes_alone(group->shipments[group->count - 1].item, limit)));
    if (!crowded)
        group->shipments[group->count++] = (struct rabbit_shipment){.item = item};
    return !crowded;
}

void rabbit_group_begin(struct rabbit_group *group) {
    group->open = group->count;
    arena_init_heap(&group->arena, RABBIT_POOL_PAGE);
    init_amqp_pool(&group->pool, RABBIT_POOL_PAGE);
}

static bool awaits_answer(const struct rabbit_shipment *shipment) {
    return shipment->tag != 0 && !shipment->answered;
}

void rabbit_group_confirm(struct rabbit_group *group, uint64_t tag, bool multiple, bool taken) {
    for (size_t i = 0; i < group->count; i++) {
        struct rabbit_shipment *shipment = &group->shipments[i];
        if (!awaits_answer(shipment) || (multiple ? shipment->tag > tag : shipment->tag != tag))
            continue;
        shipment->answered = true;
        group->open--;
        if (!taken)
            err_set(&shipment->err, STATUS_BUSY, "rabbitmq: the server refused it (basic.nack)");
    }
}

/* Messages that are equal in all of this cannot be told apart: any of them is published again, and
 * the server has then as many as were published. */
static bool is_returned(const struct rabbit_shipment *shipment, const amqp_basic_return_t *back,
                        const amqp_message_t *message) {
    return awaits_answer(shipment) && shipment->err.status == STATUS_OK &&
           bytes_eq(shipment->exchange, rabbit_text(back->exchange)) &&
           bytes_eq(shipment->routing_key, rabbit_text(back->routing_key)) &&
           bytes_eq(shipment->item->body, rabbit_text(message->body)) &&
           rabbit_properties_has(&message->properties, &shipment->properties);
}

bool rabbit_group_return(struct rabbit_group *group, const amqp_basic_return_t *back,
                         const amqp_message_t *message) {
    for (size_t i = 0; i < group->count; i++) {
        struct rabbit_shipment *shipment = &group->shipments[i];
        if (!is_returned(shipment, back, message))
            continue;
        err_set(&shipment->err, STATUS_NOT_FOUND,
                "rabbitmq: exchange \"%.*s\" routes it to no queue, with routing key \"%.*s\"",
                BYTES_ARG(shipment->exchange), BYTES_ARG(shipment->routing_key));
        return true;
    }
    return false;
}

size_t rabbit_group_redirect(struct rabbit_group *group) {
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct rabbit_shipment *shipment = &group->shipments[i];
        if (!shipment->answered || shipment->err.status != STATUS_NOT_FOUND ||
            shipment->exchange.len == 0 || shipment->queue.len == 0)
            continue;
        shipment->exchange = BYTES("");
        shipment->routing_key = shipment->queue;
        shipment->tag = 0;
        shipment->answered = false;
        shipment->err.status = STATUS_OK;
        group->open++;
        count++;
    }
    return count;
}

/* "PRECONDITION_FAILED - message size 8192 is larger than configured max size 4096"; without
 * "configured" where the limit is the server's own. */
uint64_t rabbit_group_size_limit(struct bytes words) {
    struct bytes begin = BYTES("message size "), before = BYTES("max size ");
    uint64_t limit;
    struct bytes rest = bytes_cut(words, bytes_find(words, begin), words.len);
    rest = bytes_cut(rest, bytes_find(rest, before) + before.len, rest.len);
    return bytes_u64(rest, &limit) ? limit : 0;
}

void rabbit_group_refuse(struct rabbit_group *group, struct rabbit_shipment *shipment,
                         const struct err *err) {
    shipment->err = *err;
    shipment->answered = true;
    group->open--;
}

void rabbit_group_refuse_larger(struct rabbit_group *group, uint64_t limit) {
    for (size_t i = 0; i < group->count; i++) {
        struct rabbit_shipment *shipment = &group->shipments[i];
        struct err err;
        if (shipment->answered || shipment->item->body.len <= limit)
            continue;
        err_set(&err, STATUS_TOO_LARGE,
                "rabbitmq: the message has %zu bytes, the server's max_message_size is %llu",
                shipment->item->body.len, (unsigned long long)limit);
        rabbit_group_refuse(group, shipment, &err);
    }
}

void rabbit_group_finish(struct rabbit_group *group, const struct err *err) {
    for (size_t i = 0; i < group->count; i++) {
        struct rabbit_shipment *shipment = &group->shipments[i];
        if (err && !shipment->answered && shipment->err.status == STATUS_OK)
            shipment->err = *err;
    }
    empty_amqp_pool(&group->pool);
    arena_free(&group->arena);
    for (size_t i = 0; i < group->count; i++) {
        struct rabbit_shipment *shipment = &group->shipments[i];
        bool arrived = shipment->err.status == STATUS_OK;
        shipment->item->done(shipment->item, shipment->err.status, arrived ? NULL : &shipment->err);
    }
}
