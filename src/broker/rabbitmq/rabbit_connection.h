/* rabbit_connection: a connection to RabbitMQ with one channel. Every wait is bounded; errors are
 * texts for people. Used by one thread. */
#ifndef BROKER_RABBIT_CONNECTION_H
#define BROKER_RABBIT_CONNECTION_H

#include <amqp.h>
#include <stdatomic.h>

#include "broker/rabbitmq/rabbit_url.h"

enum {
    RABBIT_CHANNEL = 1,
    RABBIT_CHANNEL_TO_ASK = 2,        /* opened for one request; an error ends it */
    RABBIT_CONNECT_TIMEOUT_MS = 5000, /* and again for the handshake */
    RABBIT_ANSWER_TIMEOUT_MS = 5000,  /* for each request */
    RABBIT_HEARTBEAT_S = 10,          /* the connection ends after twice that without a frame */
    RABBIT_STALL_MS = 30000,   /* for a server that reads nothing: longer than a heartbeat, so that
                                  its reason is read before the end */
    RABBIT_FRAME_MAX = 131072, /* bytes; the server may want less */
};

struct rabbit_connection {
    amqp_connection_state_t state; /* NULL: not open */
    const struct url_host *host;   /* the last that was tried */
    const atomic_bool *closing;    /* then no other host is tried; NULL: never */
    struct err
        blocked; /* status not OK: the server blocks publishers, for want of memory or disk */
};

/* Tries the hosts of the URL, which must outlive the connection, starting after the last that was
 * tried. False: err says why the last one failed. */
bool rabbit_connection_open(struct rabbit_connection *connection, const struct rabbit_url *url,
                            struct err *err);
/* Tries one host, for callers that call again. */
bool rabbit_connection_open_next(struct rabbit_connection *connection, const struct rabbit_url *url,
                                 struct err *err);
/* Closes the connection; with `politely`, by the protocol's handshake. Does nothing when it is not
 * open. */
void rabbit_connection_close(struct rabbit_connection *connection, bool politely);

/* False: the library's answer is an error, and err says what was being done. */
bool rabbit_connection_asked(struct rabbit_connection *connection, amqp_rpc_reply_t reply,
                             const char *doing, struct err *err);
bool rabbit_connection_sent(struct rabbit_connection *connection, int status, const char *doing,
                            struct err *err);
/* How many messages wait in the queue. False: err says why, which may be that there is no such
 * queue. */
bool rabbit_connection_ask_queue(struct rabbit_connection *connection, struct bytes queue,
                                 uint32_t *waiting, struct err *err);
/* Whether the vhost has that exchange. False: the connection failed, err says why. */
bool rabbit_connection_ask_exchange(struct rabbit_connection *connection, struct bytes exchange,
                                    bool *exists, struct err *err);
enum rabbit_reading {
    RABBIT_READ_ONE,   /* a delivery, for amqp_destroy_envelope */
    RABBIT_READ_OTHER, /* a frame that needs no action */
    RABBIT_READ_NOTHING,
    RABBIT_READ_TROUBLE, /* err says why */
};
/* The next frame of the server, within that time. */
enum rabbit_reading rabbit_connection_read(struct rabbit_connection *connection, int64_t wait_ms,
                                           amqp_envelope_t *incoming, struct err *err);
/* An unsolicited frame. False: it ended the channel or the connection; err says why. Sets
 * `blocked`. */
bool rabbit_connection_handle(struct rabbit_connection *connection, const amqp_frame_t *frame,
                              struct err *err);

static inline amqp_bytes_t rabbit_bytes(struct bytes text) {
    return (amqp_bytes_t){text.len, (void *)text.ptr};
}

static inline struct bytes rabbit_text(amqp_bytes_t text) {
    return (struct bytes){text.bytes, text.len};
}

#endif
