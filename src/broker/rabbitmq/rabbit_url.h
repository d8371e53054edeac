/* rabbit_url: amqp://[USER:PASSWORD@]HOST[:PORT][,HOST…]/VHOST?name=value&… as the RabbitMQ adapter
 * reads it. Pure. */
#ifndef BROKER_RABBIT_URL_H
#define BROKER_RABBIT_URL_H

#include "broker/common/url.h"

enum {
    RABBIT_URL_PORT = 5672,
    RABBIT_URL_PORT_TLS = 5671,
    RABBIT_URL_PREFETCH = 256,
    RABBIT_URL_PREFETCH_MAX = 65535,
    RABBIT_URL_NAME_MAX = 255, /* bytes of a queue's, an exchange's name, a routing key */
};

struct rabbit_url {
    bool tls; /* amqps:// */
    struct url_host hosts[URL_HOSTS_MAX];
    size_t host_count;
    struct bytes user, password;      /* guest:guest unless given */
    struct bytes vhost;               /* "/" unless given */
    struct bytes ca_file;             /* tls: `ca=`, a PEM file; empty: the system's */
    struct bytes cert_file, key_file; /* tls: the client certificate; empty: none */
    struct bytes queue;
    uint16_t prefetch;     /* a source's: unacknowledged messages, at most */
    struct bytes id_path;  /* a source's: `id=`, for messages without a message_id; empty: none */
    bool origin_queue;     /* a source's: letters go back to the queue, not to their exchange */
    struct bytes exchange; /* a sink's, with the next; empty: the default one */
    struct bytes routing_key;
};

/* Texts live in the arena (heap) and end in NUL. INVALID: err says what is wrong with it. */
enum status rabbit_url_source(struct bytes text, struct arena *arena, struct rabbit_url *out,
                              struct err *err);
enum status rabbit_url_sink(struct bytes text, struct arena *arena, struct rabbit_url *out,
                            struct err *err);

#endif
