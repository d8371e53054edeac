#include "broker/rabbitmq/rabbit_batch.h"

#include <assert.h>
#include <stdio.h>

void rabbit_batch_init(struct rabbit_batch *batch, const struct broker_options *options) {
    *batch = (struct rabbit_batch){.clock = options->clock};
    arena_init_heap(&batch->arena, URL_TEXT_MAX);
    enum status status = rabbit_url_source(options->url, &batch->arena, &batch->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    rng_seed(&batch->rng, options->seed);
    batch->origin = (struct rabbit_origin){.vhost = batch->url.vhost,
                                           .queue = batch->url.queue,
                                           .id_path = batch->url.id_path,
                                           .rng = &batch->rng};
}

void rabbit_batch_free(struct rabbit_batch *batch, bool politely) {
    if (batch->connection.state)
        rabbit_connection_close(&batch->connection, politely);
    arena_free(&batch->arena);
}

static bool asked(struct rabbit_batch *batch, const char *doing, struct err *err) {
    return rabbit_connection_asked(&batch->connection, amqp_get_rpc_reply(batch->connection.state),
                                   doing, err);
}

bool rabbit_batch_ask(struct rabbit_batch *batch, struct err *err) {
    uint32_t waiting;
    if (!rabbit_connection_ask_queue(&batch->connection, batch->url.queue, &waiting, err))
        return false;
    batch->ready = waiting;
    return true;
}

bool rabbit_batch_open(struct rabbit_batch *batch, struct err *err) {
    return rabbit_connection_open_next(&batch->connection, &batch->url, err) &&
           rabbit_batch_ask(batch, err);
}

/* Each consumer has a tag of its own: a quorum queue takes a consumer with the tag of an earlier
 * one for that one, with all its deliveries. */
bool rabbit_batch_begin(struct rabbit_batch *batch, uint64_t count, struct err *err) {
    amqp_connection_state_t state = batch->connection.state;
    batch->open = count;
    snprintf(batch->tag, sizeof batch->tag, "impound-peek-%u", ++batch->count);
    amqp_basic_qos(state, RABBIT_CHANNEL, 0, (uint16_t)count, 0);
    if (!asked(batch, "set the prefetch", err))
        return false;
    amqp_basic_consume(state, RABBIT_CHANNEL, rabbit_bytes(batch->url.queue),
                       amqp_cstring_bytes(batch->tag), 0, 0, 0, amqp_empty_table);
    return asked(batch, "consume", err);
}

bool rabbit_batch_end(struct rabbit_batch *batch, struct err *err) {
    amqp_basic_cancel(batch->connection.state, RABBIT_CHANNEL, amqp_cstring_bytes(batch->tag));
    batch->open = 0;
    return asked(batch, "stop consuming", err);
}

static struct message *message_of(struct rabbit_batch *batch, const amqp_envelope_t *incoming) {
    struct delivery *delivery =
        rabbit_message_read(incoming, &batch->origin, clock_now(batch->clock).wall);
    struct message *held = delivery->held;
    held->source = NULL;
    delivery->held = NULL;
    delivery_free(delivery);
    return held;
}

enum rabbit_reading rabbit_batch_read(struct rabbit_batch *batch, int64_t wait_ms,
                                      struct message **out, struct err *err) {
    amqp_envelope_t incoming;
    *out = NULL;
    enum rabbit_reading reading =
        rabbit_connection_read(&batch->connection, wait_ms, &incoming, err);
    if (reading != RABBIT_READ_ONE)
        return reading;
    *out = message_of(batch, &incoming);
    batch->last = incoming.delivery_tag;
    batch->open -= batch->open > 0;
    amqp_destroy_envelope(&incoming);
    return reading;
}
