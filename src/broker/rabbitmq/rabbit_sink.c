/* Items are published a group at a time: all of a group is sent, then its answers are read. The
 * server confirms each message, several with one answer; an unroutable one is returned before it is
 * confirmed.
 *
 * Every wait is bounded. A message that was not confirmed when the connection was lost may have
 * arrived all the same; it has failed, and is published again: a duplicate is possible.
 *
 * A server that is short of memory or disk blocks publishers: it sends connection.blocked and reads
 * nothing until it has recovered. The connection is kept, to read connection.unblocked, and nothing
 * is sent meanwhile. Messages that were sent before fail like any that are not confirmed; the
 * server handles them once it has recovered. */
#include "broker/rabbitmq/rabbit_sink.h"

#include <assert.h>
#include <stdlib.h>

#include "base/text/base64.h"
#include "base/containers/list.h"
#include "base/memory.h"
#include "broker/common/connection_state.h"
#include "broker/common/sink_thread.h"
#include "broker/rabbitmq/rabbit_connection.h"
#include "broker/rabbitmq/rabbit_group.h"
#include "broker/rabbitmq/rabbit_properties.h"

enum {
    RABBIT_CONFIRM_TIMEOUT_MS = 10000,
    RABBIT_IDLE_MS = 1000 * RABBIT_HEARTBEAT_S / 2, /* between heartbeats */
    RABBIT_LIMIT_LASTS_MS = 60000,                  /* then a larger body is tried again */
    RABBIT_KEPT_MAX = 2 * RABBIT_FRAME_MAX,         /* bytes of properties that were kept */
};

struct rabbit_sink {
    struct sink_thread thread;
    struct rabbit_url url;

    /* The thread's own. */
    struct rabbit_connection connection;
    struct connection_state state;
    uint64_t last_tag; /* of what was published on this channel */
    uint64_t
        size_limit; /* of bodies, as the server last reported; a larger one closes the channel */
    struct mono size_limit_end;
    struct buf found;            /* the last exchange that was found on this connection */
    bool left_some;              /* some messages are unanswered, and their items were given back */
    char room[RABBIT_FRAME_MAX]; /* scratch memory for measuring */
};

static struct rabbit_sink *rabbit_of(struct sink *sink) {
    return CONTAINER_OF(sink, struct rabbit_sink, thread.sink);
}

/* ---- the connection ---- */

static bool open_sink(struct rabbit_sink *rabbit, struct err *err) {
    struct rabbit_connection *connection = &rabbit->connection;
    if (!rabbit_connection_open(connection, &rabbit->url, err))
        return false;
    rabbit->last_tag = 0;
    rabbit->left_some = false;
    buf_clear(&rabbit->found);
    amqp_confirm_select(connection->state, RABBIT_CHANNEL);
    return rabbit_connection_asked(connection, amqp_get_rpc_reply(connection->state),
                                   "ask for confirms", err);
}

static void give_up_connection(struct rabbit_sink *rabbit, const struct err *err) {
    rabbit_connection_close(&rabbit->connection, false);
    connection_state_lost(&rabbit->state, clock_now(rabbit->thread.clock).mono, err);
}

static bool is_blocked(const struct rabbit_sink *rabbit, struct err *err) {
    if (rabbit->connection.blocked.status != STATUS_OK)
        *err = rabbit->connection.blocked;
    return rabbit->connection.blocked.status != STATUS_OK;
}

static bool connect_if_needed(struct rabbit_sink *rabbit, struct err *err) {
    if (rabbit->connection.state)
        return true;
    if (connection_state_waits(&rabbit->state, clock_now(rabbit->thread.clock).mono, err))
        return false;
    if (!open_sink(rabbit, err)) {
        give_up_connection(rabbit, err);
        return false;
    }
    connection_state_made(&rabbit->state, clock_now(rabbit->thread.clock).mono);
    return true;
}

/* ---- sending ---- */

static struct bytes text_at(struct json object, const char *name, struct arena *arena) {
    struct json member;
    struct bytes text = BYTES_NONE;
    if (json_get(object, name, &member))
        json_string(member, arena, &text);
    return text;
}

static struct bytes kept_properties(struct json origin, struct arena *arena) {
    struct buf kept;
    buf_init_heap(&kept, RABBIT_KEPT_MAX);
    struct bytes bytes = base64_decode(text_at(origin, "properties", arena), &kept)
                             ? arena_dup(arena, buf_view(&kept))
                             : BYTES_NONE;
    buf_free(&kept);
    return bytes;
}

/* The destination of an item: the URL's, or its origin as rabbit_message.c wrote it: by exchange
 * and routing key, so that a consumer sees both as they were, else its queue. */
static struct bytes address(const struct rabbit_sink *rabbit, struct rabbit_shipment *shipment,
                            struct arena *arena) {
    struct json origin;
    shipment->exchange = rabbit->url.exchange;
    shipment->routing_key = rabbit->url.routing_key;
    if (shipment->item->origin.len == 0 ||
        json_parse(shipment->item->origin, &origin, NULL) != STATUS_OK)
        return BYTES_NONE;
    struct bytes exchange = text_at(origin, "exchange", arena);
    shipment->queue = text_at(origin, "queue", arena);
    if (shipment->queue.len == 0 && exchange.len == 0)
        return BYTES_NONE;
    if (shipment->queue.len > 0 && (exchange.len == 0 || rabbit->url.origin_queue)) {
        shipment->exchange = BYTES("");
        shipment->routing_key = shipment->queue;
    } else {
        struct bytes routing_key = text_at(origin, "routing_key", arena);
        shipment->exchange = exchange;
        shipment->routing_key = routing_key.ptr ? routing_key : BYTES("");
    }
    return kept_properties(origin, arena);
}

/* The protocol has one byte for the length of a name; an origin may have been read from headers
 * that anyone can write. */
static bool names_fit(struct rabbit_group *group, struct rabbit_shipment *shipment) {
    struct err err;
    if (shipment->exchange.len <= RABBIT_URL_NAME_MAX &&
        shipment->routing_key.len <= RABBIT_URL_NAME_MAX)
        return true;
    err_set(&err, STATUS_INVALID,
            "rabbitmq: the name of its exchange, routing key or queue has more than %d bytes",
            RABBIT_URL_NAME_MAX);
    rabbit_group_refuse(group, shipment, &err);
    return false;
}

/* Publishing to a missing exchange would close the channel for the whole group. The last exchange
 * that was found is not looked for again on the connection. */
static bool look_for_exchange(struct rabbit_sink *rabbit, struct rabbit_group *group,
                              struct rabbit_shipment *shipment, struct err *err) {
    struct bytes exchange = shipment->exchange;
    bool exists;
    struct err missing;
    if (shipment->item->origin.len == 0 || exchange.len == 0 ||
        bytes_eq(exchange, buf_view(&rabbit->found)))
        return true;
    if (!rabbit_connection_ask_exchange(&rabbit->connection, exchange, &exists, err))
        return false;
    if (exists) {
        buf_clear(&rabbit->found);
        buf_bytes(&rabbit->found, exchange);
        return true;
    }
    err_set(&missing, STATUS_NOT_FOUND, "rabbitmq: there is no exchange \"%.*s\"",
            BYTES_ARG(bytes_clip(exchange, RABBIT_URL_NAME_MAX)));
    rabbit_group_refuse(group, shipment, &missing);
    rabbit_group_redirect(group);
    return true;
}

/* The library would notice in the middle of the message, and leave the channel unusable. */
static bool fits(struct rabbit_sink *rabbit, struct rabbit_group *group,
                 struct rabbit_shipment *shipment) {
    int frame_max = amqp_get_frame_max(rabbit->connection.state);
    struct err err;
    if (rabbit_properties_fit(&shipment->properties, frame_max, rabbit->room))
        return true;
    err_set(&err, STATUS_TOO_LARGE, "rabbitmq: the headers are larger than a frame, %d bytes",
            frame_max);
    rabbit_group_refuse(group, shipment, &err);
    return false;
}

static bool prepare(struct rabbit_sink *rabbit, struct rabbit_group *group,
                    struct rabbit_shipment *shipment, struct err *err) {
    struct bytes kept = address(rabbit, shipment, &group->arena);
    rabbit_properties_make(shipment->item, kept, &group->pool, &shipment->properties);
    return !names_fit(group, shipment) || !fits(rabbit, group, shipment) ||
           look_for_exchange(rabbit, group, shipment, err);
}

static bool send_one(struct rabbit_sink *rabbit, struct rabbit_shipment *shipment,
                     struct err *err) {
    shipment->tag = ++rabbit->last_tag;
    int status =
        amqp_basic_publish(rabbit->connection.state, RABBIT_CHANNEL,
                           rabbit_bytes(shipment->exchange), rabbit_bytes(shipment->routing_key), 1,
                           0, &shipment->properties, rabbit_bytes(shipment->item->body));
    return rabbit_connection_sent(&rabbit->connection, status, "publish", err);
}

/* ---- answers ---- */

static bool take_back(struct rabbit_sink *rabbit, struct rabbit_group *group,
                      const amqp_basic_return_t *back, struct err *err) {
    amqp_message_t message;
    if (!rabbit_connection_asked(
            &rabbit->connection,
            amqp_read_message(rabbit->connection.state, RABBIT_CHANNEL, &message, 0), "read", err))
        return false;
    bool known = rabbit_group_return(group, back, &message);
    amqp_destroy_message(&message);
    if (!known)
        err_set(err, STATUS_BUSY, "rabbitmq: an unroutable message was returned changed");
    return known;
}

/* The server closes the channel when a message is too large, and does not say which one. */
static void note_size_limit(struct rabbit_sink *rabbit, struct rabbit_group *group,
                            const amqp_frame_t *frame) {
    const amqp_method_t *method = &frame->payload.method;
    if (frame->frame_type != AMQP_FRAME_METHOD || method->id != AMQP_CHANNEL_CLOSE_METHOD)
        return;
    const amqp_channel_close_t *close = method->decoded;
    uint64_t limit = rabbit_group_size_limit(rabbit_text(close->reply_text));
    if (limit == 0)
        return;
    rabbit->size_limit = limit;
    rabbit->size_limit_end =
        mono_after(clock_now(rabbit->thread.clock).mono, RABBIT_LIMIT_LASTS_MS);
    rabbit_group_refuse_larger(group, limit);
}

static bool take_answer(struct rabbit_sink *rabbit, struct rabbit_group *group,
                        const amqp_frame_t *frame, struct err *err) {
    const amqp_method_t *method = &frame->payload.method;
    if (frame->frame_type == AMQP_FRAME_METHOD && method->id == AMQP_BASIC_ACK_METHOD) {
        const amqp_basic_ack_t *ack = method->decoded;
        rabbit_group_confirm(group, ack->delivery_tag, ack->multiple, true);
    } else if (frame->frame_type == AMQP_FRAME_METHOD && method->id == AMQP_BASIC_NACK_METHOD) {
        const amqp_basic_nack_t *nack = method->decoded;
        rabbit_group_confirm(group, nack->delivery_tag, nack->multiple, false);
    } else if (frame->frame_type == AMQP_FRAME_METHOD && method->id == AMQP_BASIC_RETURN_METHOD) {
        return take_back(rabbit, group, method->decoded, err);
    }
    note_size_limit(rabbit, group, frame);
    return rabbit_connection_handle(&rabbit->connection, frame, err);
}

static bool read_answers(struct rabbit_sink *rabbit, struct rabbit_group *group, struct err *err) {
    int64_t end = clock_now(rabbit->thread.clock).mono.ms + RABBIT_CONFIRM_TIMEOUT_MS;
    while (group->open > 0) {
        int64_t left = end - clock_now(rabbit->thread.clock).mono.ms;
        struct timeval wait = {.tv_sec = left > 0 ? left / 1000 : 0,
                               .tv_usec = left > 0 ? left % 1000 * 1000 : 0};
        amqp_frame_t frame;
        amqp_maybe_release_buffers(rabbit->connection.state);
        int status = amqp_simple_wait_frame_noblock(rabbit->connection.state, &frame, &wait);
        rabbit->left_some = status == AMQP_STATUS_TIMEOUT && is_blocked(rabbit, err);
        if (rabbit->left_some)
            return false;
        if (!rabbit_connection_sent(&rabbit->connection, status, "wait for a confirm", err) ||
            !take_answer(rabbit, group, &frame, err))
            return false;
    }
    return true;
}

/* ---- a group ---- */

/* All requests are made before anything is published: their answers would be mixed with confirms.
 */
static bool prepare_all(struct rabbit_sink *rabbit, struct rabbit_group *group, struct err *err) {
    bool well = true;
    for (size_t i = 0; well && i < group->count; i++)
        well = group->shipments[i].answered || prepare(rabbit, group, &group->shipments[i], err);
    return well;
}

static bool send_all(struct rabbit_sink *rabbit, struct rabbit_group *group, struct err *err) {
    bool sent = true;
    for (size_t i = 0; sent && i < group->count; i++)
        sent = group->shipments[i].answered || group->shipments[i].tag != 0 ||
               send_one(rabbit, &group->shipments[i], err);
    return sent;
}

/* Frames that arrived while we wrote: confirmed messages are not published again, and the server's
 * reason says more than the failed write. */
static void read_last_frames(struct rabbit_sink *rabbit, struct rabbit_group *group,
                             struct err *err) {
    struct timeval at_once = {0, 0};
    struct err ignored;
    amqp_frame_t frame;
    while (amqp_simple_wait_frame_noblock(rabbit->connection.state, &frame, &at_once) ==
               AMQP_STATUS_OK &&
           take_answer(rabbit, group, &frame, &ignored))
        continue;
    is_blocked(rabbit, err);
}

static bool send_and_read(struct rabbit_sink *rabbit, struct rabbit_group *group, struct err *err) {
    if (!send_all(rabbit, group, err)) {
        read_last_frames(rabbit, group, err);
        return false;
    }
    return read_answers(rabbit, group, err);
}

/* Messages that an exchange routed to no queue are sent once more, to their queue. */
static bool publish_on(struct rabbit_sink *rabbit, struct rabbit_group *group, struct err *err) {
    return prepare_all(rabbit, group, err) && send_and_read(rabbit, group, err) &&
           (rabbit_group_redirect(group) == 0 || send_and_read(rabbit, group, err));
}

/* The limit was raised: larger messages go with others again. */
static void forget_size_limit(struct rabbit_sink *rabbit, const struct rabbit_group *group) {
    for (size_t i = 0; i < group->count; i++)
        if (group->shipments[i].err.status == STATUS_OK &&
            group->shipments[i].item->body.len > rabbit->size_limit)
            rabbit->size_limit = 0;
}

static void publish_group(struct rabbit_sink *rabbit, struct rabbit_group *group) {
    struct err err = {STATUS_OK, ""};
    rabbit_group_begin(group);
    if (clock_now(rabbit->thread.clock).mono.ms < rabbit->size_limit_end.ms)
        rabbit_group_refuse_larger(group, rabbit->size_limit);
    bool ready = group->open > 0 && connect_if_needed(rabbit, &err) && !is_blocked(rabbit, &err);
    bool well = ready && publish_on(rabbit, group, &err);
    if (ready && !well && !rabbit->left_some)
        give_up_connection(rabbit, &err);
    if (ready && well)
        forget_size_limit(rabbit, group);
    rabbit_group_finish(group, well ? NULL : &err);
}

/* Takes as many items as may go together. */
static size_t publish(struct sink *sink, struct sink_item **items, size_t count) {
    struct rabbit_sink *rabbit = rabbit_of(sink);
    struct rabbit_group group = {.count = 0};
    size_t added = 0;
    while (added < count && rabbit_group_add(&group, items[added], rabbit->size_limit))
        added++;
    publish_group(rabbit, &group);
    return added;
}

/* ---- the thread ---- */

/* Sends heartbeats, and notices a server that has stopped. */
static void keep_alive(struct rabbit_sink *rabbit) {
    struct timeval at_once = {0, 0};
    struct err err;
    amqp_frame_t frame;
    int status = AMQP_STATUS_OK;
    while (rabbit->connection.state && status != AMQP_STATUS_TIMEOUT) {
        amqp_maybe_release_buffers(rabbit->connection.state);
        status = amqp_simple_wait_frame_noblock(rabbit->connection.state, &frame, &at_once);
        if (status != AMQP_STATUS_TIMEOUT &&
            (!rabbit_connection_sent(&rabbit->connection, status, "read", &err) ||
             !rabbit_connection_handle(&rabbit->connection, &frame, &err)))
            give_up_connection(rabbit, &err);
    }
}

/* Late answers would be assigned to other messages. */
static void begin_anew(struct rabbit_sink *rabbit) {
    struct err ignored;
    if (rabbit->connection.state && rabbit->left_some && !is_blocked(rabbit, &ignored))
        rabbit_connection_close(&rabbit->connection, true);
}

static void begin(struct sink *sink) {
    struct rabbit_sink *rabbit = rabbit_of(sink);
    keep_alive(rabbit);
    begin_anew(rabbit);
}

static struct mono rest(struct sink *sink) {
    struct rabbit_sink *rabbit = rabbit_of(sink);
    return rabbit->connection.state
               ? mono_after(clock_now(rabbit->thread.clock).mono, RABBIT_IDLE_MS)
               : MONO_NEVER;
}

static void end(struct sink *sink) {
    struct rabbit_sink *rabbit = rabbit_of(sink);
    struct err ignored;
    rabbit_connection_close(&rabbit->connection, !is_blocked(rabbit, &ignored));
}

/* ---- the outside ---- */

static void rabbit_free(struct sink *sink) {
    struct rabbit_sink *rabbit = rabbit_of(sink);
    sink_thread_free(&rabbit->thread);
    connection_state_free(&rabbit->state);
    buf_free(&rabbit->found);
    free(rabbit);
}

static const struct sink_vtable vtable = {
    .kind = "rabbitmq", .publish = sink_thread_publish, .free = rabbit_free};

static const struct sink_thread_work work = {
    .name = "rabbit-sink", .begin = begin, .publish = publish, .rest = rest, .end = end};

enum status rabbit_sink_check(struct bytes url, struct err *err) {
    struct rabbit_url parsed;
    return rabbit_url_sink(url, NULL, &parsed, err);
}

/* A user who may publish need not be allowed to look. */
static bool look_refused(amqp_rpc_reply_t reply) {
    const amqp_channel_close_t *close = reply.reply.decoded;
    return reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
           reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD && close->reply_code == AMQP_ACCESS_REFUSED;
}

/* Only publishing shows whether an exchange has a queue for the routing key. */
static bool look(struct rabbit_connection *connection, const struct rabbit_url *url,
                 struct err *err) {
    uint32_t waiting;
    if (url->queue.len)
        return rabbit_connection_ask_queue(connection, url->queue, &waiting, err) ||
               look_refused(amqp_get_rpc_reply(connection->state));
    amqp_exchange_declare(connection->state, RABBIT_CHANNEL, rabbit_bytes(url->exchange),
                          amqp_cstring_bytes("direct"), 1, 0, 0, 0, amqp_empty_table);
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(connection->state);
    return rabbit_connection_asked(connection, reply, "look for the exchange", err) ||
           look_refused(reply);
}

enum status rabbit_sink_connect(const struct sink_options *options, struct err *err) {
    struct arena arena;
    struct rabbit_url url;
    struct rabbit_connection connection = {.state = NULL};
    arena_init_heap(&arena, URL_TEXT_MAX);
    enum status status = rabbit_url_sink(options->url, &arena, &url, err);
    bool found = status == STATUS_OK && rabbit_connection_open(&connection, &url, err) &&
                 look(&connection, &url, err);
    rabbit_connection_close(&connection, found);
    arena_free(&arena);
    return found ? STATUS_OK : err->status;
}

struct sink *rabbit_sink_new(const struct sink_options *options) {
    struct rabbit_sink *rabbit = memory_new(sizeof *rabbit);
    struct arena *arena = &rabbit->thread.arena;
    struct err err;
    sink_thread_init(&rabbit->thread, &vtable, &work, options);
    rabbit->connection.closing = &rabbit->thread.closing;
    buf_init_heap(&rabbit->found, RABBIT_URL_NAME_MAX);
    enum status status = options->source
                             ? rabbit_url_source(options->url, arena, &rabbit->url, &err)
                             : rabbit_url_sink(options->url, arena, &rabbit->url, &err);
    assert(status == STATUS_OK);
    (void)status;
    connection_state_init(&rabbit->state, BYTES("sink rabbitmq"), options->seed);
    sink_thread_start(&rabbit->thread);
    return &rabbit->thread.sink;
}
