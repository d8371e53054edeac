/* redis_shape: how lists, streams and sorted sets differ as sources. All of it runs on the source's
 * thread; false is trouble, with a text in err, and ends the connections. */
#ifndef BROKER_REDIS_SHAPE_H
#define BROKER_REDIS_SHAPE_H

#include "base/rng.h"
#include "broker/redis/redis_connection.h"
#include "broker/redis/redis_inflight.h"

enum {
    REDIS_INFLIGHT_MAX = 512, /* fetched and not yet received */
    REDIS_AT_ONCE = 256,      /* messages in one fetch, or in one pipeline */
    REDIS_BLOCK_MS = 5000,    /* how long the server waits for something to fetch */
    REDIS_TEND_MS = 5000,     /* between heartbeats, with which dead consumers are looked for */
};

/* The source's connections and names, for its shape. */
struct redis_session {
    const struct redis_url *url;
    struct bytes consumer; /* our name among consumers */
    struct clock *clock;
    struct rng *rng;
    struct redis_inflight *inflight;
    struct redis_connection *work;       /* for commands that are answered at once */
    struct redis_connection *fetch;      /* for commands that may block at the server */
    struct arena arena;                  /* of the names below */
    bool begun;                          /* what was delivered to us before is recovered */
    struct bytes consumers, hash, marks; /* list: keys of ours */
    struct mono idle_until;              /* set: nothing new was found; it is not asked before */
};

struct redis_shape {
    /* After connecting: whether the key exists and has the right type. Changes nothing. */
    bool (*present)(struct redis_session *session, struct err *err);
    /* When messages are first wanted: recovers what was delivered to this consumer before and is
     * not known to this process, marked as redelivered. */
    bool (*begin)(struct redis_session *session, struct err *err);
    /* Adds commands that fetch up to `room` messages, at most REDIS_AT_ONCE, and wait for the
     * first. Returns how many answers follow (0: nothing is asked now) … */
    size_t (*ask)(struct redis_session *session, size_t room);
    /* … each of which is given here. */
    bool (*take)(struct redis_session *session, size_t which, const redisReply *reply,
                 struct err *err);
    /* Adds one command that settles up to `settles` messages; its answer confirms them. */
    void (*settle)(struct redis_session *session, struct redis_item *const *items, size_t count);
    size_t settles; /* at most REDIS_AT_ONCE */
    /* A fetch removes nothing at the server: what is settled while one is under way would be
     * delivered again. */
    bool looks;
    /* Gives up to REDIS_AT_ONCE waiting messages back to the server, where that is possible. */
    bool (*give_back)(struct redis_session *session, size_t *count, struct err *err);
    /* Makes the server count deliveries that were repeated here. NULL: it does not count. */
    bool (*recount)(struct redis_session *session, struct err *err);
    /* Every REDIS_TEND_MS. */
    bool (*tend)(struct redis_session *session, struct err *err);
    /* Removes us from the consumers. NULL: nothing is to be done. */
    void (*end)(struct redis_session *session);
    bool (*lag)(struct redis_session *session, uint64_t *out, struct err *err);
};

extern const struct redis_shape redis_list_shape, redis_stream_shape, redis_set_shape;

#endif
