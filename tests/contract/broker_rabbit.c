/* A node of RabbitMQ that runs already: tests/e2e/test_52_rabbitmq.py starts it, and this with
 *   RABBIT_PORT          where it listens
 *   RABBIT_QUEUE_TYPE    classic or quorum
 *   RABBIT_LEFT          a command that, given a queue's name, writes how many messages it has
 * The node's death is played there, too. */
#include "test.h"

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>

#include "broker/rabbitmq/rabbit_peek.h"
#include "broker/rabbitmq/rabbit_source.h"
#include "broker_subject.h"

enum { CHANNEL = 1, FRAME_MAX = 131072 };

static amqp_connection_state_t client;
static unsigned lane;
static char queue[32];

static void assert_well(amqp_rpc_reply_t reply) {
    assert_int_equal(reply.reply_type, AMQP_RESPONSE_NORMAL);
}

static bool start(void) {
    const char *port = getenv("RABBIT_PORT");
    if (!port)
        return false;
    client = amqp_new_connection();
    assert_int_equal(amqp_socket_open(amqp_tcp_socket_new(client), "127.0.0.1", atoi(port)), 0);
    assert_well(amqp_login(client, "/", 0, FRAME_MAX, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest"));
    amqp_channel_open(client, CHANNEL);
    assert_well(amqp_get_rpc_reply(client));
    amqp_confirm_select(client, CHANNEL);
    assert_well(amqp_get_rpc_reply(client));
    return true;
}

static void stop(void) {
    amqp_connection_close(client, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(client);
}

static void next(void) {
    const char *type = getenv("RABBIT_QUEUE_TYPE");
    amqp_table_entry_t entry = {
        .key = amqp_cstring_bytes("x-queue-type"),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes(type)}};
    snprintf(queue, sizeof queue, "contract-%s-%u", type, ++lane);
    amqp_queue_declare(client, CHANNEL, amqp_cstring_bytes(queue), 0, 1, 0, 0,
                       (amqp_table_t){1, &entry});
    assert_well(amqp_get_rpc_reply(client));
}

/* Confirmed, so that it is there for whoever asks. */
static void push(struct bytes body) {
    static unsigned count;
    char id[32];
    snprintf(id, sizeof id, "m-%u", ++count); /* nothing else names a message in each delivery */
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG |
                                                    AMQP_BASIC_MESSAGE_ID_FLAG,
                                          .delivery_mode = 2,
                                          .message_id = amqp_cstring_bytes(id)};
    amqp_frame_t frame;
    assert_int_equal(amqp_basic_publish(client, CHANNEL, amqp_empty_bytes,
                                        amqp_cstring_bytes(queue), 1, 0, &properties,
                                        (amqp_bytes_t){body.len, (void *)body.ptr}),
                     0);
    assert_int_equal(amqp_simple_wait_frame(client, &frame), 0);
    assert_int_equal(frame.payload.method.id, AMQP_BASIC_ACK_METHOD);
}

static size_t left(void) {
    char command[512], said[64] = "";
    snprintf(command, sizeof command, "%s %s", getenv("RABBIT_LEFT"), queue);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    assert_non_null(fgets(said, sizeof said, out));
    pclose(out);
    return (size_t)atoi(said);
}

static void url(char *out, size_t size) {
    snprintf(out, size, "amqp://127.0.0.1:%s/?queue=%s", getenv("RABBIT_PORT"), queue);
}

const struct broker_subject broker_subject = {
    .kind = "rabbitmq",
    .start = start,
    .stop = stop,
    .next = next,
    .url = url,
    .check = rabbit_source_check,
    .source = rabbit_source_new,
    .peek = rabbit_peek_new,
    .look_names = true,
    .look_counts = true,
    .push = push,
    .left = left,
};
