/* store: where messages are safe, as the engine sees it.
 *
 * The store keeps envelopes with their bodies; an envelope's state says where it is listed: live
 * ones (queued, pending_retry) wait to be taken, letters wait for people. A message is PUT, UPDATED
 * or MARKED while it is held, and FORGOTTEN when it succeeded; beside the messages stand each
 * queue's facts, and texts that are kept for a time.
 *
 * Changes are submitted as commits. A commit is all or nothing, is durable (fsynced) before `done`
 * says so, and becomes visible to take, the counters and port/letters.h at that moment, not before.
 * All commits that wait share one sync.
 *
 * A store owns the queues that it gives messages of, each at an epoch; a commit for a queue that
 * another owner has taken over ends FENCED. An embedded store owns all queues for as long as it is
 * open.
 *
 * Every function may be called from any thread, except that one thread at a time takes from a
 * queue. Reading for people and triage is port/letters.h, on threads that may wait. */
#ifndef PORT_STORE_H
#define PORT_STORE_H

#include <string.h>

#include "base/arena.h"
#include "base/instant.h"
#include "base/status.h"
#include "core/envelope/envelope.h"
#include "core/message.h"

/* ---- changes ---- */

enum store_op_kind {
    STORE_PUT,    /* a new message: envelope, body. Sets seq */
    STORE_UPDATE, /* seq: this envelope from now on; body too where body.ptr is not NULL */
    /* seq: it succeeded, or was spilled (0: it was never here; the spill is counted) */
    STORE_FORGET,
    STORE_QUEUE, /* the queue's own durable facts (queue_facts.h), as JSON */
    STORE_MARK,  /* seq: what a person or a rule decided about a letter, without its envelope */
    STORE_KEEP,  /* a text under a name, until it expires or is dropped */
};

enum { STORE_NAME_MAX = 512, STORE_SPACE_SIZE = 24 };

/* A note beside the messages, read through port/letters.h. */
struct store_keep {
    const char *space;   /* of the caller's choice: 1 to STORE_SPACE_SIZE - 1 bytes, no space */
    struct bytes name;   /* 1 to STORE_NAME_MAX bytes */
    struct bytes value;  /* ptr NULL: drop it */
    struct wall expires; /* WALL_NEVER: it stays until it is dropped */
};

/* Envelopes, bodies and texts of one commit together: a store takes at least so many bytes, and may
 * answer TOO_LARGE to more. */
enum { STORE_COMMIT_BYTES = 32 << 20 };

/* What STORE_MARK changes; the rest of the envelope stays. */
struct store_mark {
    enum state state;           /* PENDING_REVIEW (escalated alone changes), RESOLVED, DISCARDED */
    enum resolution resolution; /* with RESOLVED */
    struct wall at;             /* resolved_at, or with `escalated` escalated_at */
    bool escalated;
    struct bytes why;
};

struct store_op {
    enum store_op_kind kind;
    uint32_t queue;                  /* from queue_number */
    uint64_t seq;                    /* in, or out for PUT */
    const struct envelope *envelope; /* PUT, UPDATE */
    struct bytes body;               /* PUT, UPDATE */
    bool check_id;                   /* PUT: the producer chose the id, so it may be held already */
    bool decided_are_free;           /* … though not by resolved and discarded letters alone */
    bool duplicate;           /* out, PUT with check_id: held with the same body; nothing changed */
    struct bytes spilled_dlq; /* FORGET: count it as spilled from this DLQ */
    struct bytes queue_facts; /* QUEUE */
    /* UPDATE, FORGET, MARK: only from these states (a bit each); 0: whatever it is in */
    uint32_t from;
    bool skipped; /* out, with `from`: it is in none of them, or is being changed; left alone */
    struct store_mark mark; /* MARK */
    struct store_keep keep; /* KEEP; `queue` 0: of no queue */
};

/* The commit and its ops are the caller's again in `done`; envelopes, bodies and texts when submit
 * returns. Outputs (seq, duplicate, skipped, refused, err) are valid in `done` and after it, not
 * before: what they say may not be known when submit returns. */
struct store_commit {
    struct store_op *ops;
    size_t count;
    /* Called exactly once, from the store's thread or from inside submit (when refused at once, or
     * with `caller_waits`: of this commit or another). MUST NOT block. status OK: durable.
     * CONFLICT: op `refused` has an id that is held with another body, and nothing was changed. IO,
     * FULL: nothing was changed; it may be submitted again. TOO_LARGE: nothing was changed; it has
     * more than STORE_COMMIT_BYTES, and may be submitted again in parts. FENCED: nothing was
     * changed, and a queue of the commit is not ours any more: what was taken from it belongs to
     * its new owner, and is dropped without acknowledging it anywhere. */
    void (*done)(struct store_commit *commit, enum status status);
    void *arg;
    bool caller_waits; /* its thread does nothing else until done: the store may use it */
    size_t refused;
    struct err err;
};

/* ---- taking ---- */

enum store_take {
    TAKE_READY, /* queued, its delay over; oldest first */
    TAKE_DUE,   /* pending_retry and replaying, due; by due time */
    /* The same, the one that was handed over longest ago first: for probes. What was not handed
     * over since the store was opened comes before all others, by due time. */
    TAKE_DUE_LONGEST,
    TAKE_FAR,    /* queued, its delay over, youngest first; then pending_retry, due, latest first */
    TAKE_LEASED, /* leased when we last died: once, after the store was opened */
};

/* Whether a queue's messages wait for one another. */
enum store_order {
    ORDER_NONE,
    /* Of the live messages with one key only the oldest can be taken, and none while an older
     * letter closes the key (envelope.closes_key, in pending_review or replaying, or waiting for
     * room in its DLQ). Replaying letters of one key go oldest first, one at a time. */
    ORDER_KEY,
};

enum { STORE_UNREADABLE_WHY_SIZE = 256 };

/* Bodies that one take or take_blocked reads, in bytes; one message that is larger comes alone. */
enum { STORE_TAKE_BYTES_MAX = 16 << 20 };

struct store_queue_counts {
    uint64_t queued;        /* waiting, delayed ones included */
    uint64_t delayed;       /* of those, not yet ready */
    uint64_t pending_retry; /* waiting for their time, or for room in a DLQ */
    uint64_t awaiting_room; /* of those, judged dead and waiting for room in a full DLQ */
    uint64_t taken;         /* in the engine's hands: running and retrying */
    uint64_t unreadable; /* that wait and could not be read when they were last to be taken … */
    char unreadable_why[STORE_UNREADABLE_WHY_SIZE]; /* … which, the last of them, and why */
};

struct store_count {
    struct bytes name;
    uint64_t count;
};

enum { STORE_COMMIT_BUCKETS = 12 };
/* Upper bounds; +Inf follows. */
extern const double store_commit_bounds_seconds[STORE_COMMIT_BUCKETS];

/* A figure that a kind of store has of its own: a metric of this name. */
struct store_gauge {
    const char *metric, *help;
    uint64_t value;
};

enum { STORE_GAUGES_MAX = 8 };

struct store_health {
    bool writable;                               /* the last commit went through */
    struct err trouble;                          /* why not */
    uint64_t unlisted;                           /* changes committed that lists do not show yet */
    struct store_gauge gauges[STORE_GAUGES_MAX]; /* of this kind of store */
    size_t gauge_count;
    uint64_t commit_buckets[STORE_COMMIT_BUCKETS + 1]; /* not cumulative; the last is +Inf */
    double commit_seconds;                             /* sum */
};

/* 0 when this kind of store has no such gauge. */
static inline uint64_t store_gauge_value(const struct store_health *health, const char *metric) {
    for (size_t i = 0; i < health->gauge_count; i++) {
        if (strcmp(health->gauges[i].metric, metric) == 0)
            return health->gauges[i].value;
    }
    return 0;
}

struct letters;
struct store;

struct store_vtable {
    const char *kind; /* "sqlite", "fake" */
    /* The store's number for a queue name, made if need be (durable with the first commit that uses
     * it). */
    uint32_t (*queue_number)(struct store *store, struct bytes name);
    /* Names of all queues, by their numbers: (*out)[0] is of number 1. One that is empty: no queue
     * has that number. */
    size_t (*queue_names)(struct store *store, struct arena *arena, struct bytes **out);
    void (*submit)(struct store *store, struct store_commit *commit);

    /* Up to `max` messages, within STORE_TAKE_BYTES_MAX; theirs who takes, until an UPDATE or
     * FORGET of them is durable or they are given back. */
    size_t (*take)(struct store *store, uint32_t queue, enum store_take which, struct instant now,
                   struct message **out, size_t max);
    /* This very one, if it waits (due or not); NULL otherwise. */
    struct message *(*take_one)(struct store *store, uint32_t queue, uint64_t seq);
    /* The same, also when its key's order holds it back. */
    struct message *(*take_any)(struct store *store, uint32_t queue, uint64_t seq);
    /* With ORDER_KEY: live messages behind one closed key, beyond the first `limit` of that key,
     * youngest last; each with blocked_by. */
    size_t (*take_blocked)(struct store *store, uint32_t queue, size_t limit, struct message **out,
                           size_t max);
    /* Messages that wait for room in this DLQ (envelope_awaits_room), oldest judgement first. No
     * other take gives them. */
    size_t (*take_for_room)(struct store *store, uint32_t queue, struct bytes dlq,
                            struct message **out, size_t max);
    /* The DLQs that messages of the queue wait for, and how many wait for each. */
    size_t (*awaiting_room)(struct store *store, uint32_t queue, struct arena *arena,
                            struct store_count **out);
    /* Before the first take. */
    void (*set_order)(struct store *store, uint32_t queue, enum store_order order);
    /* Back to where it was before it was taken, behind what waits there, not before `due`. Takes
     * it. */
    void (*give_back)(struct store *store, struct message *held_take, struct mono due);
    /* The earliest time at which take may give something; MONO_NEVER: nothing waits. */
    struct mono (*next_ready)(struct store *store, uint32_t queue, enum store_take which);
    void (*counts)(struct store *store, uint32_t queue, struct store_queue_counts *out);
    /* The number that the next message gets: what is held has a lesser one. */
    uint64_t (*next_seq)(struct store *store);
    /* The last STORE_QUEUE facts; BYTES_NONE when there are none. */
    struct bytes (*queue_facts)(struct store *store, uint32_t queue, struct arena *arena);

    uint64_t (*dlq_depth)(struct store *store, struct bytes name); /* O(1) */
    void (*health)(struct store *store, struct store_health *out);

    /* Called (from any thread) when a message of that queue has become ready or has got a due time.
     * MUST NOT block, MUST NOT call the store. One listener, which must outlive the store. */
    void (*listen)(struct store *store, void (*ready)(void *arg, uint32_t queue), void *arg);
    /* Waits for what was submitted; then everything is closed and freed. */
    void (*close)(struct store *store);
};

struct store {
    const struct store_vtable *vtable;
    struct letters *letters; /* the same store, for those who may wait (port/letters.h) */
};

#endif
