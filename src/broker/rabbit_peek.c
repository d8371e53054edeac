#include "broker/rabbit_peek.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "broker/rabbit_connection.h"
#include "broker/rabbit_limit.h"
#include "broker/rabbit_message.h"

struct rabbit_peek {
    struct peek peek;
    struct clock *clock;
    struct arena arena; /* the URL's texts */
    struct rabbit_url url;
    struct rabbit_place place;
    struct rabbit_connection connection;
    bool opened;
    int64_t limit;     /* of deliveries; RABBIT_LIMIT_NONE */
    uint64_t left;     /* of those that were there when the pass began */
    uint64_t last_tag; /* 0: nothing was got */
};

static struct rabbit_peek *self(struct peek *peek) {
    return CONTAINER_OF(peek, struct rabbit_peek, peek);
}

/* ---- beginning ---- */

static bool ask_queue(struct rabbit_peek *rabbit, struct err *err) {
    amqp_queue_declare_ok_t *queue =
        amqp_queue_declare(rabbit->connection.state, RABBIT_CHANNEL,
                           rabbit_bytes(rabbit->url.queue), 1, 0, 0, 0, amqp_empty_table);
    if (!rabbit_connection_asked(&rabbit->connection, amqp_get_rpc_reply(rabbit->connection.state),
                                 "look for the queue", err))
        return false;
    rabbit->left = queue->message_count;
    return true;
}

static enum status forbid(const struct rabbit_peek *rabbit, int64_t left, struct err *err) {
    return err_set(
        err, STATUS_FORBIDDEN,
        "queue %.*s: the delivery limit leaves %lld, and a look costs one: with fewer than "
        "%d nothing is looked at; set mode: take",
        BYTES_ARG(rabbit->url.queue), (long long)left, RABBIT_PEEK_LEFT_MIN);
}

static enum status open_pass(struct rabbit_peek *rabbit, struct err *err) {
    if (!rabbit_connection_open(&rabbit->connection, &rabbit->url, err) ||
        !ask_queue(rabbit, err) ||
        !rabbit_limit_ask(&rabbit->connection, rabbit->url.queue, &rabbit->limit, err))
        return STATUS_UNREACHABLE;
    rabbit->opened = true;
    if (rabbit->limit != RABBIT_LIMIT_NONE && rabbit->limit < RABBIT_PEEK_LEFT_MIN)
        return forbid(rabbit, rabbit->limit, err);
    return STATUS_OK;
}

/* ---- reading ---- */

static struct store_held *read_message(struct rabbit_peek *rabbit, amqp_envelope_t *delivery) {
    bool named;
    struct parcel *parcel =
        rabbit_message_read(delivery, &rabbit->place, clock_now(rabbit->clock).wall, &named);
    struct store_held *held = parcel->held;
    held->source = NULL;
    parcel->held = NULL;
    parcel_free(parcel);
    return held;
}

/* `deliveries` counts this one, too; the limit does not. */
static enum status check_left(const struct rabbit_peek *rabbit, const struct store_held *held,
                              struct err *err) {
    if (rabbit->limit == RABBIT_LIMIT_NONE || held->deliveries == 0)
        return STATUS_OK;
    int64_t left = rabbit->limit - (held->deliveries - 1);
    return left < RABBIT_PEEK_LEFT_MIN ? forbid(rabbit, left, err) : STATUS_OK;
}

/* *out NULL: the queue is empty. */
static enum status get_one(struct rabbit_peek *rabbit, struct store_held **out, struct err *err) {
    struct rabbit_connection *connection = &rabbit->connection;
    *out = NULL;
    amqp_maybe_release_buffers(connection->state);
    amqp_rpc_reply_t reply =
        amqp_basic_get(connection->state, RABBIT_CHANNEL, rabbit_bytes(rabbit->url.queue), 0);
    if (!rabbit_connection_asked(connection, reply, "get", err))
        return STATUS_UNREACHABLE;
    if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD)
        return STATUS_OK;
    const amqp_basic_get_ok_t *got = reply.reply.decoded;
    amqp_envelope_t delivery = {.channel = RABBIT_CHANNEL,
                                .delivery_tag = got->delivery_tag,
                                .redelivered = got->redelivered,
                                .exchange = got->exchange,
                                .routing_key = got->routing_key};
    rabbit->last_tag = got->delivery_tag;
    reply = amqp_read_message(connection->state, RABBIT_CHANNEL, &delivery.message, 0);
    if (!rabbit_connection_asked(connection, reply, "read", err))
        return STATUS_UNREACHABLE;
    *out = read_message(rabbit, &delivery);
    amqp_destroy_message(&delivery.message);
    return check_left(rabbit, *out, err);
}

static enum status rabbit_next(struct peek *peek, struct store_held **out, size_t max,
                               size_t *count, struct err *err) {
    struct rabbit_peek *rabbit = self(peek);
    enum status status = rabbit->opened ? STATUS_OK : open_pass(rabbit, err);
    *count = 0;
    while (status == STATUS_OK && *count < max && rabbit->left > 0) {
        struct store_held *held;
        status = get_one(rabbit, &held, err);
        rabbit->left = held ? rabbit->left - 1 : 0;
        if (status == STATUS_OK && held)
            out[(*count)++] = held;
        else
            store_held_free(held);
    }
    for (; status != STATUS_OK && *count > 0; (*count)--)
        store_held_free(out[*count - 1]);
    return status;
}

/* ---- the end ---- */

/* The question behind it is answered once the server has done it. */
static bool give_back(struct rabbit_peek *rabbit) {
    struct err err;
    if (!rabbit->last_tag)
        return true;
    int status = amqp_basic_nack(rabbit->connection.state, RABBIT_CHANNEL, rabbit->last_tag, 1, 1);
    return rabbit_connection_sent(&rabbit->connection, status, "give back", &err) &&
           ask_queue(rabbit, &err);
}

static void rabbit_free(struct peek *peek) {
    struct rabbit_peek *rabbit = self(peek);
    if (rabbit->connection.state)
        rabbit_connection_close(&rabbit->connection, give_back(rabbit));
    arena_free(&rabbit->arena);
    free(rabbit);
}

struct peek *rabbit_peek_new(const struct broker_options *options) {
    static const struct peek_vtable vtable = {rabbit_next, rabbit_free};
    struct rabbit_peek *rabbit = memory_new(sizeof *rabbit);
    rabbit->peek.vtable = &vtable;
    rabbit->clock = options->clock;
    arena_init_heap(&rabbit->arena, URL_TEXT_MAX);
    enum status status = rabbit_url_source(options->url, &rabbit->arena, &rabbit->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    rabbit->place = (struct rabbit_place){rabbit->url.vhost, rabbit->url.queue};
    return &rabbit->peek;
}
