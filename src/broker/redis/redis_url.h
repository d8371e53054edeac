/* redis_url: redis://[USER:PASSWORD@]HOST[:PORT]/DATABASE?name=value&… as the Redis adapter reads
 * it. Pure. */
#ifndef BROKER_REDIS_URL_H
#define BROKER_REDIS_URL_H

#include "broker/common/url.h"

enum {
    REDIS_URL_PORT = 6379,
    REDIS_URL_DATABASE_MAX = 65535,
    REDIS_URL_IDLE_MS = 30 * 1000,
    REDIS_URL_IDLE_LEAST_MS = 1000,
};

/* The placeholder of the message's id in a key. */
#define REDIS_URL_ID "{id}"

struct redis_url {
    bool tls; /* rediss:// */
    struct bytes host;
    uint16_t port;
    uint32_t database;
    struct bytes user, password; /* empty: none */
    struct bytes ca_file;        /* tls: `ca=`, a PEM file; empty: the system's */
    /* The destination or source; one of these: */
    struct bytes key;     /* result:{id}; it has REDIS_URL_ID in it; a sink's alone */
    struct bytes list;    /* a list's name */
    struct bytes stream;  /* a stream's name */
    struct bytes zset;    /* a sorted set's name; a source's alone */
    struct bytes asynq;   /* a queue of asynq, whose archive is read; a source's alone */
    struct bytes group;   /* of the stream; a source's alone */
    struct bytes id_path; /* `id=`: of elements and members; `.id` unless given, empty: none */
    int64_t ttl_ms;       /* of the key; 0: for ever */
    int64_t idle_ms;      /* `idle=`: a consumer without a heartbeat for so long is dead; 30 s */
};

/* Texts live in the arena (heap). INVALID: err says what is wrong with it. */
enum status redis_url_source(struct bytes text, struct arena *arena, struct redis_url *out,
                             struct err *err);
/* A source's URL for peeking: a stream need not have a group. */
enum status redis_url_peek(struct bytes text, struct arena *arena, struct redis_url *out,
                           struct err *err);
enum status redis_url_check_peek(struct bytes text, struct err *err);
enum status redis_url_sink(struct bytes text, struct arena *arena, struct redis_url *out,
                           struct err *err);

#endif
