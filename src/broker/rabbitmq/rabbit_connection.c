#include "broker/rabbitmq/rabbit_connection.h"

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct timeval timeval_of(int64_t ms) {
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

/* ---- words ---- */

/* Texts for people; the library's own for other errors. */
static const struct {
    int status;
    const char *words;
} library_words[] = {
    {AMQP_STATUS_HOSTNAME_RESOLUTION_FAILED, "unknown host"},
    {AMQP_STATUS_SOCKET_ERROR, "connection refused or broken"},
    {AMQP_STATUS_TCP_ERROR, "connection refused or broken"},
    {AMQP_STATUS_CONNECTION_CLOSED, "the server closed the connection"},
    {AMQP_STATUS_SOCKET_CLOSED, "the server closed the connection"},
    {AMQP_STATUS_TIMEOUT, "the server does not answer"},
    {AMQP_STATUS_HEARTBEAT_TIMEOUT, "the server stopped answering"},
    {AMQP_STATUS_SSL_ERROR, "TLS failed"},
    {AMQP_STATUS_SSL_CONNECTION_FAILED, "TLS failed: does the server speak it on this port?"},
    {AMQP_STATUS_SSL_PEER_VERIFY_FAILED, "the server's certificate is not trusted"},
    {AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED, "the server's certificate is for another host"},
};

static const char *words_of(int status) {
    for (size_t i = 0; i < sizeof library_words / sizeof *library_words; i++)
        if (library_words[i].status == status)
            return library_words[i].words;
    return amqp_error_string2(status);
}

static bool failed(const struct rabbit_connection *connection, struct err *err, const char *doing,
                   struct bytes words) {
    enum { WORDS_MAX = 300 };
    err_set(err, STATUS_UNREACHABLE, "%.*s:%u: %s: %.*s", BYTES_ARG(connection->host->name),
            connection->host->port, doing, BYTES_ARG(bytes_clip(words, WORDS_MAX)));
    return false;
}

/* ACCESS_REFUSED (403) at the login is the error that users meet first. */
static bool closed(const struct rabbit_connection *connection, struct err *err, const char *doing,
                   const amqp_method_t *method) {
    if (method->id == AMQP_CONNECTION_CLOSE_METHOD) {
        const amqp_connection_close_t *close = method->decoded;
        return failed(connection, err, doing,
                      close->reply_code == AMQP_ACCESS_REFUSED
                          ? BYTES("the user or the password is refused")
                          : rabbit_text(close->reply_text));
    }
    if (method->id == AMQP_CHANNEL_CLOSE_METHOD) {
        const amqp_channel_close_t *close = method->decoded;
        return failed(connection, err, doing, rabbit_text(close->reply_text));
    }
    return failed(connection, err, doing, BYTES("unexpected answer of the server"));
}

bool rabbit_connection_asked(struct rabbit_connection *connection, amqp_rpc_reply_t reply,
                             const char *doing, struct err *err) {
    switch (reply.reply_type) {
    case AMQP_RESPONSE_NORMAL:
        return true;
    case AMQP_RESPONSE_LIBRARY_EXCEPTION:
        return failed(connection, err, doing, bytes_of(words_of(reply.library_error)));
    case AMQP_RESPONSE_SERVER_EXCEPTION:
        return closed(connection, err, doing, &reply.reply);
    case AMQP_RESPONSE_NONE:
        break;
    }
    return failed(connection, err, doing, BYTES("the server closed the connection"));
}

bool rabbit_connection_sent(struct rabbit_connection *connection, int status, const char *doing,
                            struct err *err) {
    return status == AMQP_STATUS_OK || failed(connection, err, doing, bytes_of(words_of(status)));
}

/* The resource that is short, in the server's words: "low on memory". */
static void note_blocked(struct rabbit_connection *connection,
                         const amqp_connection_blocked_t *blocked) {
    enum { REASON_MAX = 200 };
    err_set(&connection->blocked, STATUS_BUSY,
            "%.*s:%u: publish: the server blocks publishers: %.*s",
            BYTES_ARG(connection->host->name), connection->host->port,
            BYTES_ARG(bytes_clip(rabbit_text(blocked->reason), REASON_MAX)));
}

bool rabbit_connection_handle(struct rabbit_connection *connection, const amqp_frame_t *frame,
                              struct err *err) {
    if (frame->frame_type != AMQP_FRAME_METHOD)
        return true;
    const amqp_method_t *method = &frame->payload.method;
    if (method->id == AMQP_BASIC_CANCEL_METHOD)
        return failed(connection, err, "consume", BYTES("the queue was deleted or has moved"));
    if (method->id == AMQP_CONNECTION_BLOCKED_METHOD)
        note_blocked(connection, method->decoded);
    if (method->id == AMQP_CONNECTION_UNBLOCKED_METHOD)
        connection->blocked.status = STATUS_OK;
    if (method->id == AMQP_CONNECTION_CLOSE_METHOD || method->id == AMQP_CHANNEL_CLOSE_METHOD)
        return closed(connection, err, "closed by the server", method);
    return true;
}

/* ---- reading ---- */

static enum rabbit_reading read_other(struct rabbit_connection *connection, struct err *err) {
    struct timeval at_once = {0, 0};
    amqp_frame_t frame;
    int status = amqp_simple_wait_frame_noblock(connection->state, &frame, &at_once);
    return rabbit_connection_sent(connection, status, "read", err) &&
                   rabbit_connection_handle(connection, &frame, err)
               ? RABBIT_READ_OTHER
               : RABBIT_READ_TROUBLE;
}

bool rabbit_connection_ask_queue(struct rabbit_connection *connection, struct bytes queue,
                                 uint32_t *waiting, struct err *err) {
    const amqp_queue_declare_ok_t *found = amqp_queue_declare(
        connection->state, RABBIT_CHANNEL, rabbit_bytes(queue), 1, 0, 0, 0, amqp_empty_table);
    if (!rabbit_connection_asked(connection, amqp_get_rpc_reply(connection->state),
                                 "look for the queue", err))
        return false;
    *waiting = found->message_count;
    return true;
}

/* The server ends the channel of a client that asks for an exchange which does not exist. */
static bool ended_channel(amqp_rpc_reply_t reply) {
    return reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
           reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD;
}

bool rabbit_connection_ask_exchange(struct rabbit_connection *connection, struct bytes exchange,
                                    bool *exists, struct err *err) {
    static const char doing[] = "look for the exchange";
    amqp_connection_state_t state = connection->state;
    amqp_channel_open(state, RABBIT_CHANNEL_TO_ASK);
    if (!rabbit_connection_asked(connection, amqp_get_rpc_reply(state), doing, err))
        return false;
    amqp_exchange_declare(state, RABBIT_CHANNEL_TO_ASK, rabbit_bytes(exchange),
                          amqp_cstring_bytes("direct"), 1, 0, 0, 0, amqp_empty_table);
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(state);
    *exists = !ended_channel(reply);
    if (*exists)
        return rabbit_connection_asked(connection, reply, doing, err) &&
               rabbit_connection_asked(
                   connection, amqp_channel_close(state, RABBIT_CHANNEL_TO_ASK, AMQP_REPLY_SUCCESS),
                   doing, err);
    amqp_channel_close_ok_t close_ok;
    return rabbit_connection_sent(
        connection,
        amqp_send_method(state, RABBIT_CHANNEL_TO_ASK, AMQP_CHANNEL_CLOSE_OK_METHOD, &close_ok),
        doing, err);
}

enum rabbit_reading rabbit_connection_read(struct rabbit_connection *connection, int64_t wait_ms,
                                           amqp_envelope_t *incoming, struct err *err) {
    struct timeval wait = timeval_of(wait_ms);
    amqp_maybe_release_buffers(connection->state);
    amqp_rpc_reply_t reply = amqp_consume_message(connection->state, incoming, &wait, 0);
    bool library = reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION;
    if (library && reply.library_error == AMQP_STATUS_TIMEOUT)
        return RABBIT_READ_NOTHING;
    if (library && reply.library_error == AMQP_STATUS_UNEXPECTED_STATE)
        return read_other(connection, err);
    return rabbit_connection_asked(connection, reply, "read", err) ? RABBIT_READ_ONE
                                                                   : RABBIT_READ_TROUBLE;
}

/* ---- opening ---- */

static amqp_socket_t *new_socket(amqp_connection_state_t state, const struct rabbit_url *url,
                                 int *status) {
    *status = AMQP_STATUS_OK;
    if (!url->tls)
        return amqp_tcp_socket_new(state);
    amqp_socket_t *socket = amqp_ssl_socket_new(state);
    if (!socket)
        return NULL;
    amqp_ssl_socket_set_verify_peer(socket, 1);
    amqp_ssl_socket_set_verify_hostname(socket, 1);
    *status = amqp_ssl_socket_set_cacert(socket, url->ca_file.ptr);
    if (*status == AMQP_STATUS_OK && url->cert_file.len)
        *status = amqp_ssl_socket_set_key(socket, url->cert_file.ptr, url->key_file.ptr);
    return socket;
}

/* The library writes for as long as heartbeats come, and a server that blocks publishers sends them
 * too. */
static void end_writes(amqp_connection_state_t state) {
    unsigned stall_ms = RABBIT_STALL_MS;
    setsockopt(amqp_get_sockfd(state), IPPROTO_TCP, TCP_USER_TIMEOUT, &stall_ms, sizeof stall_ms);
}

static bool dial(struct rabbit_connection *connection, const struct rabbit_url *url,
                 struct err *err) {
    struct timeval connecting = timeval_of(RABBIT_CONNECT_TIMEOUT_MS);
    int status;
    amqp_socket_t *socket = new_socket(connection->state, url, &status);
    if (!socket)
        abort();
    if (status != AMQP_STATUS_OK)
        return failed(connection, err, "connect", BYTES("a certificate file cannot be read"));
    status = amqp_socket_open_noblock(socket, connection->host->name.ptr, connection->host->port,
                                      &connecting);
    if (status == AMQP_STATUS_OK)
        end_writes(connection->state);
    return rabbit_connection_sent(connection, status, "connect", err);
}

static bool log_in(struct rabbit_connection *connection, const struct rabbit_url *url,
                   struct err *err) {
    struct timeval handshake = timeval_of(RABBIT_CONNECT_TIMEOUT_MS);
    struct timeval answer = timeval_of(RABBIT_ANSWER_TIMEOUT_MS);
    amqp_table_entry_t told_of[] = {
        {.key = amqp_cstring_bytes("consumer_cancel_notify"),
         .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = 1}},
        {.key = amqp_cstring_bytes("connection.blocked"),
         .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = 1}}};
    amqp_table_entry_t entries[] = {
        {.key = amqp_cstring_bytes("connection_name"),
         .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes("impound")}},
        {.key = amqp_cstring_bytes("capabilities"),
         .value = {.kind = AMQP_FIELD_KIND_TABLE, .value.table = {2, told_of}}}};
    amqp_table_t properties = {2, entries};
    amqp_set_handshake_timeout(connection->state, &handshake);
    amqp_set_rpc_timeout(connection->state, &answer);
    return rabbit_connection_asked(
        connection,
        amqp_login_with_properties(connection->state, url->vhost.ptr, AMQP_DEFAULT_MAX_CHANNELS,
                                   RABBIT_FRAME_MAX, RABBIT_HEARTBEAT_S, &properties,
                                   AMQP_SASL_METHOD_PLAIN, url->user.ptr, url->password.ptr),
        "log in", err);
}

static bool open_channel(struct rabbit_connection *connection, struct err *err) {
    amqp_channel_open(connection->state, RABBIT_CHANNEL);
    return rabbit_connection_asked(connection, amqp_get_rpc_reply(connection->state),
                                   "open a channel", err);
}

bool rabbit_connection_open_next(struct rabbit_connection *connection, const struct rabbit_url *url,
                                 struct err *err) {
    size_t next = connection->host ? (size_t)(connection->host - url->hosts) + 1 : 0;
    connection->host = &url->hosts[next % url->host_count];
    connection->blocked.status = STATUS_OK;
    connection->state = amqp_new_connection();
    if (!connection->state)
        abort();
    if (dial(connection, url, err) && log_in(connection, url, err) && open_channel(connection, err))
        return true;
    rabbit_connection_close(connection, false);
    return false;
}

static bool is_closing(const struct rabbit_connection *connection) {
    return connection->closing && atomic_load(connection->closing);
}

bool rabbit_connection_open(struct rabbit_connection *connection, const struct rabbit_url *url,
                            struct err *err) {
    bool open = false;
    for (size_t i = 0; !open && i < url->host_count && !(i > 0 && is_closing(connection)); i++)
        open = rabbit_connection_open_next(connection, url, err);
    return open;
}

void rabbit_connection_close(struct rabbit_connection *connection, bool politely) {
    if (!connection->state)
        return;
    if (politely)
        amqp_connection_close(connection->state, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(connection->state);
    connection->state = NULL;
}
