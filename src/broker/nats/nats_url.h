/* nats_url: nats://[USER:PASSWORD@ | TOKEN@]HOST[:PORT][,HOST…]?name=value&… as the NATS adapter
 * reads it. Pure. */
#ifndef BROKER_NATS_URL_H
#define BROKER_NATS_URL_H

#include "broker/common/url.h"

enum {
    NATS_URL_PORT = 4222,
    NATS_URL_NAME_MAX = 255, /* bytes of a stream's, a consumer's, a domain's name */
    NATS_URL_SUBJECT_MAX = 1024,
};

struct nats_url {
    bool tls; /* tls:// */
    struct url_host hosts[URL_HOSTS_MAX];
    size_t host_count;
    struct bytes user, password;      /* ptr NULL: none; a user alone is a token */
    struct bytes ca_file;             /* tls: `ca=`, a PEM file; empty: the system's */
    struct bytes cert_file, key_file; /* tls: the client certificate; empty: none */
    struct bytes creds_file;          /* `creds=`: a user's JWT and seed; empty: none */
    struct bytes domain;              /* of JetStream; empty: the server's own */
    struct bytes stream, consumer;    /* a source's */
    struct bytes subject;             /* a sink's */
};

/* Whether it can be a token of a subject, and so the name of a stream, a consumer or a domain. */
bool nats_url_is_name(struct bytes text);
/* Texts live in the arena (heap) and end in NUL. INVALID: err says what is wrong with it. */
enum status nats_url_source(struct bytes text, struct arena *arena, struct nats_url *out,
                            struct err *err);
/* A source's URL for peeking: it need not name a consumer. */
enum status nats_url_peek(struct bytes text, struct arena *arena, struct nats_url *out,
                          struct err *err);
enum status nats_url_check_peek(struct bytes text, struct err *err);
enum status nats_url_sink(struct bytes text, struct arena *arena, struct nats_url *out,
                          struct err *err);

#endif
