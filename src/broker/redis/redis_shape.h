/* redis_shape: what a list, a stream and a set do differently as sources. All of it runs on the
 * source's thread; false is trouble, which err tells, and ends the connections. */
#ifndef BROKER_REDIS_SHAPE_H
#define BROKER_REDIS_SHAPE_H

#include "base/rng.h"
#include "broker/redis/redis_connection.h"
#include "broker/redis/redis_inflight.h"

enum {
    REDIS_INFLIGHT_MAX = 512, /* fetched and not yet received */
    REDIS_AT_ONCE = 256,      /* messages in one fetch, or in one pipeline */
    REDIS_BLOCK_MS = 5000,    /* how long the server waits for something to fetch */
    REDIS_TEND_MS = 5000,     /* how often we say that we live, and look who does not */
};

/* What a shape works with. */
struct redis_session {
    const struct redis_url *url;
    struct bytes consumer; /* our name there */
    struct clock *clock;
    struct rng *rng;
    struct redis_inflight *inflight;
    struct redis_connection *work;       /* asked and answered at once */
    struct redis_connection *fetch;      /* where the server may take its time */
    struct arena arena;                  /* of the names below */
    bool begun;                          /* what is ours at the server is at hand */
    struct bytes consumers, hash, marks; /* list: keys of ours */
    struct mono idle_until;              /* set: nothing new was there: it is not asked before */
};

struct redis_shape {
    /* After connecting: whether it is there. Changes nothing. */
    bool (*present)(struct redis_session *session, struct err *err);
    /* When messages are wanted: what was given to us before and is not known in this life waits at
     * hand, marked. */
    bool (*begin)(struct redis_session *session, struct err *err);
    /* Adds commands that fetch up to `room` messages, at most REDIS_AT_ONCE, and wait for the
     * first; so many answers follow (0: nothing is to be asked now) … */
    size_t (*ask)(struct redis_session *session, size_t room);
    /* … each of which is given here. */
    bool (*take)(struct redis_session *session, size_t which, const redisReply *reply,
                 struct err *err);
    /* Adds one command that settles up to `settles` messages, which are gone with its answer. */
    void (*settle)(struct redis_session *session, struct redis_item *const *items, size_t count);
    size_t settles; /* at most REDIS_AT_ONCE */
    /* A fetch takes nothing: what is settled while one is under way would come again. */
    bool looks;
    /* Up to REDIS_AT_ONCE that wait go back to the server, where there is such a thing. */
    bool (*give_back)(struct redis_session *session, size_t *count, struct err *err);
    /* Lets the server count what was given again. NULL: it does not count. */
    bool (*recount)(struct redis_session *session, struct err *err);
    /* Every REDIS_TEND_MS. */
    bool (*tend)(struct redis_session *session, struct err *err);
    /* We leave, and say so. NULL: nobody need know. */
    void (*end)(struct redis_session *session);
    bool (*lag)(struct redis_session *session, uint64_t *out, struct err *err);
};

extern const struct redis_shape redis_list_shape, redis_stream_shape, redis_set_shape;

#endif
