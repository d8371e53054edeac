#include "alone.h"

#include "broker/rabbitmq/rabbit_connection.h"

static void must(struct rabbit_connection *connection, amqp_rpc_reply_t reply) {
    struct err err = {STATUS_OK, ""};
    if (!rabbit_connection_asked(connection, reply, "bench", &err))
        alone_die(err.text);
}

static void consume(struct rabbit_connection *connection) {
    amqp_envelope_t delivery;
    amqp_maybe_release_buffers(connection->state);
    must(connection, amqp_consume_message(connection->state, &delivery, NULL, 0));
    if (amqp_basic_ack(connection->state, RABBIT_CHANNEL, delivery.delivery_tag, 0) !=
        AMQP_STATUS_OK)
        alone_die("acknowledge");
    amqp_destroy_envelope(&delivery);
}

struct alone_stretch alone_rabbit(const char *text, size_t count) {
    struct err err = {STATUS_OK, ""};
    struct rabbit_url url;
    struct rabbit_connection connection = {.state = NULL};
    struct arena arena;
    struct alone_stretch stretch;
    arena_init_heap(&arena, URL_TEXT_MAX);
    if (rabbit_url_source(bytes_of(text), &arena, &url, &err) != STATUS_OK ||
        !rabbit_connection_open(&connection, &url, &err))
        alone_die(err.text);
    amqp_basic_qos(connection.state, RABBIT_CHANNEL, 0, url.prefetch, 0);
    must(&connection, amqp_get_rpc_reply(connection.state));
    amqp_basic_consume(connection.state, RABBIT_CHANNEL, rabbit_bytes(url.queue), amqp_empty_bytes,
                       0, 0, 0, amqp_empty_table);
    must(&connection, amqp_get_rpc_reply(connection.state));
    for (size_t done = 0; done < count; done++) {
        consume(&connection);
        if (!done)
            stretch.first = alone_now();
    }
    stretch.last = alone_now();
    rabbit_connection_close(&connection, true);
    arena_free(&arena);
    return stretch;
}
