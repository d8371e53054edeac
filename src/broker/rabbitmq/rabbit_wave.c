#include "broker/rabbitmq/rabbit_wave.h"

#include <assert.h>
#include <stdio.h>

void rabbit_wave_init(struct rabbit_wave *wave, const struct broker_options *options) {
    *wave = (struct rabbit_wave){.clock = options->clock};
    arena_init_heap(&wave->arena, URL_TEXT_MAX);
    enum status status = rabbit_url_source(options->url, &wave->arena, &wave->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    rng_seed(&wave->rng, options->seed);
    wave->place = (struct rabbit_place){.vhost = wave->url.vhost,
                                        .queue = wave->url.queue,
                                        .id_path = wave->url.id_path,
                                        .rng = &wave->rng};
}

void rabbit_wave_free(struct rabbit_wave *wave, bool politely) {
    if (wave->connection.state)
        rabbit_connection_close(&wave->connection, politely);
    arena_free(&wave->arena);
}

static bool asked(struct rabbit_wave *wave, const char *doing, struct err *err) {
    return rabbit_connection_asked(&wave->connection, amqp_get_rpc_reply(wave->connection.state),
                                   doing, err);
}

bool rabbit_wave_ask(struct rabbit_wave *wave, struct err *err) {
    uint32_t waiting;
    if (!rabbit_connection_ask_queue(&wave->connection, wave->url.queue, &waiting, err))
        return false;
    wave->ready = waiting;
    return true;
}

bool rabbit_wave_open(struct rabbit_wave *wave, struct err *err) {
    return rabbit_connection_open_next(&wave->connection, &wave->url, err) &&
           rabbit_wave_ask(wave, err);
}

/* Each consumer has a name of its own: to a quorum queue, one of the same name is the one before,
 * with all that it has. */
bool rabbit_wave_begin(struct rabbit_wave *wave, uint64_t count, struct err *err) {
    amqp_connection_state_t state = wave->connection.state;
    wave->open = count;
    snprintf(wave->tag, sizeof wave->tag, "impound-wave-%u", ++wave->count);
    amqp_basic_qos(state, RABBIT_CHANNEL, 0, (uint16_t)count, 0);
    if (!asked(wave, "set the prefetch", err))
        return false;
    amqp_basic_consume(state, RABBIT_CHANNEL, rabbit_bytes(wave->url.queue),
                       amqp_cstring_bytes(wave->tag), 0, 0, 0, amqp_empty_table);
    return asked(wave, "consume", err);
}

bool rabbit_wave_end(struct rabbit_wave *wave, struct err *err) {
    amqp_basic_cancel(wave->connection.state, RABBIT_CHANNEL, amqp_cstring_bytes(wave->tag));
    wave->open = 0;
    return asked(wave, "stop consuming", err);
}

static struct message *message_of(struct rabbit_wave *wave, const amqp_envelope_t *incoming) {
    struct delivery *delivery =
        rabbit_message_read(incoming, &wave->place, clock_now(wave->clock).wall);
    struct message *held = delivery->held;
    held->source = NULL;
    delivery->held = NULL;
    delivery_free(delivery);
    return held;
}

enum rabbit_reading rabbit_wave_read(struct rabbit_wave *wave, int64_t wait_ms,
                                     struct message **out, struct err *err) {
    amqp_envelope_t incoming;
    *out = NULL;
    enum rabbit_reading reading =
        rabbit_connection_read(&wave->connection, wait_ms, &incoming, err);
    if (reading != RABBIT_READ_ONE)
        return reading;
    *out = message_of(wave, &incoming);
    wave->last = incoming.delivery_tag;
    wave->open -= wave->open > 0;
    amqp_destroy_envelope(&incoming);
    return reading;
}
