/* store: the durable message store, as the engine uses it.
 *
 * The store keeps envelopes with their bodies; an envelope's state determines where the message is
 * listed: live messages (queued, pending_retry) wait to be taken, letters wait for a decision. A
 * message is PUT, UPDATED or MARKED while it is held, and FORGOTTEN when it succeeded. The store
 * also keeps the durable facts of each queue, and notes: texts under a name.
 *
 * Changes are submitted as commits. A commit is atomic, is durable (fsynced) before `done` is
 * called, and becomes visible to take, the counters and port/letters.h at that moment, not before.
 * All pending commits share one fsync.
 *
 * A store owns the queues whose messages it returns, each at an epoch; a commit for a queue that
 * another node has taken over ends FENCED. An embedded store owns all queues for as long as it is
 * open.
 *
 * Every function may be called from any thread, except that one thread at a time takes from a
 * queue. Reads for triage and the server are in port/letters.h, and run on threads that may wait.
 */
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
    STORE_PUT,    /* adds a message with its envelope and body. Sets seq */
    STORE_UPDATE, /* replaces the envelope of message seq, and its body if body.ptr is not NULL */
    /* removes message seq, which succeeded or was spilled (0: the message was never stored, and
     * only the spill is counted) */
    STORE_FORGET,
    STORE_QUEUE, /* sets the queue's durable facts (queue_facts.h), as JSON */
    STORE_MARK,  /* records a decision about letter seq without rewriting its envelope */
    STORE_KEEP,  /* sets a note, which stays until it expires or is dropped */
};

enum { STORE_NAME_MAX = 512, STORE_SPACE_SIZE = 24 };

/* A note, read through port/letters.h. */
struct store_keep {
    const char *space;   /* chosen by the caller: 1 to STORE_SPACE_SIZE - 1 bytes, no blanks */
    struct bytes name;   /* 1 to STORE_NAME_MAX bytes */
    struct bytes value;  /* ptr NULL: drop the note */
    struct wall expires; /* WALL_NEVER: stays until it is dropped */
};

/* The limit for envelopes, bodies and texts of one commit together. A store accepts at least this
 * many bytes, and may answer TOO_LARGE to more. */
enum { STORE_COMMIT_BYTES = 32 << 20 };

/* The changes of STORE_MARK; the rest of the envelope is unchanged. */
struct store_mark {
    enum state state;           /* PENDING_REVIEW (changes only `escalated`), RESOLVED, DISCARDED */
    enum resolution resolution; /* with RESOLVED */
    struct wall at;             /* resolved_at; with `escalated`: escalated_at */
    bool escalated;
    struct bytes why;
};

struct store_op {
    enum store_op_kind kind;
    uint32_t queue;                  /* a number from queue_number */
    uint64_t seq;                    /* input; output for PUT */
    const struct envelope *envelope; /* PUT, UPDATE */
    struct bytes body;               /* PUT, UPDATE */
    bool check_id;                   /* PUT: the producer chose the id, so look for a duplicate */
    /* With check_id: ignore resolved and discarded letters with this id. */
    bool decided_are_free;
    /* Output, PUT with check_id: a message with this id and the same body is held; nothing changed.
     */
    bool duplicate;
    struct bytes spilled_dlq; /* FORGET: count the message as spilled from this DLQ */
    struct bytes queue_facts; /* QUEUE */
    /* UPDATE, FORGET, MARK: apply only if the message is in one of these states (a bit each); 0:
     * any state */
    uint32_t from;
    /* Output, with `from`: not applied, because the message is in another state or has another
     * change pending. */
    bool skipped;
    struct store_mark mark; /* MARK */
    struct store_keep keep; /* KEEP; `queue` 0: the note belongs to no queue */
};

/* The commit and its ops belong to the caller again in `done`; envelopes, bodies and texts when
 * submit returns. Outputs (seq, duplicate, skipped, refused, err) are valid in `done` and after it,
 * not before: they may not be known yet when submit returns. */
struct store_commit {
    struct store_op *ops;
    size_t count;
    /* Called exactly once, from the store's thread or from inside submit (if the commit is refused
     * at once; with `caller_waits` also for other commits). MUST NOT block. OK: durable. For every
     * other status nothing was changed. CONFLICT: the id of op `refused` is held with another body.
     * IO, FULL: the commit may be submitted again. TOO_LARGE: it has more than STORE_COMMIT_BYTES,
     * and may be submitted again in parts. FENCED: this node does not own a queue of the commit any
     * more: messages that were taken from it belong to the new owner, and are dropped without being
     * acknowledged. */
    void (*done)(struct store_commit *commit, enum status status);
    void *arg;
    /* The submitting thread does nothing else until `done`: the store may do its own work on it. */
    bool caller_waits;
    size_t refused;
    struct err err;
};

/* ---- taking ---- */

enum store_take {
    TAKE_READY, /* queued, with no delay left; oldest first */
    TAKE_DUE,   /* pending_retry and replaying, if due; by due time */
    /* As TAKE_DUE, but least recently attempted first: for probes. Messages that were not attempted
     * since the store was opened come before all others, by due time. */
    TAKE_DUE_LONGEST,
    /* Queued with no delay left, youngest first; then pending_retry, if due, latest first. */
    TAKE_FAR,
    /* Leased at the last crash or shutdown: returned once after the store was opened. */
    TAKE_LEASED,
};

/* The order that a queue keeps. */
enum store_order {
    ORDER_NONE,
    /* Only the oldest live message of a key can be taken, and none while an older letter closes the
     * key (envelope.closes_key, in pending_review or replaying, or waiting for room in its DLQ).
     * Replaying letters of one key are taken oldest first, one at a time. */
    ORDER_KEY,
};

enum { STORE_UNREADABLE_WHY_SIZE = 256 };

/* The maximum size in bytes of the bodies that one take or take_blocked reads; a larger message is
 * returned alone. */
enum { STORE_TAKE_BYTES_MAX = 16 << 20 };

struct store_queue_counts {
    uint64_t queued;        /* waiting, delayed messages included */
    uint64_t delayed;       /* of `queued`: not yet ready */
    uint64_t pending_retry; /* waiting for their due time, or for room in a DLQ */
    uint64_t awaiting_room; /* of `pending_retry`: judged dead and waiting for room in a full DLQ */
    uint64_t taken;         /* held by the engine: running and retrying */
    uint64_t unreadable;    /* waiting messages that could not be read at their last take */
    char unreadable_why[STORE_UNREADABLE_WHY_SIZE]; /* the last of them, and the error */
};

struct store_count {
    struct bytes name;
    uint64_t count;
};

enum { STORE_COMMIT_BUCKETS = 12 };
/* Upper bounds of the buckets; +Inf follows. */
extern const double store_commit_bounds_seconds[STORE_COMMIT_BUCKETS];

/* A metric that only this kind of store has. */
struct store_gauge {
    const char *metric, *help;
    uint64_t value;
};

enum { STORE_GAUGES_MAX = 8 };

struct store_health {
    bool writable;      /* the last commit succeeded */
    struct err trouble; /* if not: the error */
    /* Number of committed changes that lists do not show yet. */
    uint64_t unlisted;
    struct store_gauge gauges[STORE_GAUGES_MAX]; /* of this kind of store */
    size_t gauge_count;
    uint64_t commit_buckets[STORE_COMMIT_BUCKETS + 1]; /* not cumulative; the last is +Inf */
    double commit_seconds;                             /* the sum over all commits */
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
    /* The store's number for a queue name. Creates it if needed; it becomes durable with the first
     * commit that uses it. */
    uint32_t (*queue_number)(struct store *store, struct bytes name);
    /* Names of all queues, by number: (*out)[0] is the name of number 1. Empty: no queue has that
     * number. */
    size_t (*queue_names)(struct store *store, struct arena *arena, struct bytes **out);
    void (*submit)(struct store *store, struct store_commit *commit);

    /* Takes up to `max` messages, within STORE_TAKE_BYTES_MAX. They belong to the caller until an
     * UPDATE or FORGET of them is durable or they are given back. */
    size_t (*take)(struct store *store, uint32_t queue, enum store_take which, struct instant now,
                   struct message **out, size_t max);
    /* Takes the message with this seq if it waits (due or not); NULL otherwise, and if it waits for
     * room in a DLQ. */
    struct message *(*take_one)(struct store *store, uint32_t queue, uint64_t seq);
    /* As take_one, but also takes a message that the order of its key holds back, or that waits for
     * room. */
    struct message *(*take_any)(struct store *store, uint32_t queue, uint64_t seq);
    /* With ORDER_KEY: takes live messages of closed keys, except the first `limit` of each key,
     * youngest last; blocked_by is set in each. */
    size_t (*take_blocked)(struct store *store, uint32_t queue, size_t limit, struct message **out,
                           size_t max);
    /* Takes messages that wait for room in this DLQ (envelope_awaits_room), in the order in which
     * they were judged dead. No other take returns them. */
    size_t (*take_for_room)(struct store *store, uint32_t queue, struct bytes dlq,
                            struct message **out, size_t max);
    /* The DLQs for which messages of the queue wait for room, and how many wait for each. */
    size_t (*awaiting_room)(struct store *store, uint32_t queue, struct arena *arena,
                            struct store_count **out);
    /* Called before the first take. */
    void (*set_order)(struct store *store, uint32_t queue, enum store_order order);
    /* Returns a taken message to the list from which it was taken, after the messages that wait
     * there, not before `due`. Takes ownership of it. */
    void (*give_back)(struct store *store, struct message *held_take, struct mono due);
    /* The earliest time at which take may return a message; MONO_NEVER: none waits. */
    struct mono (*next_ready)(struct store *store, uint32_t queue, enum store_take which);
    void (*counts)(struct store *store, uint32_t queue, struct store_queue_counts *out);
    /* The number of the next message. Every held message has a smaller one. */
    uint64_t (*next_seq)(struct store *store);
    /* The facts of the last STORE_QUEUE; BYTES_NONE if there are none. */
    struct bytes (*queue_facts)(struct store *store, uint32_t queue, struct arena *arena);

    uint64_t (*dlq_depth)(struct store *store, struct bytes name); /* O(1) */
    void (*health)(struct store *store, struct store_health *out);

    /* `ready` is called (from any thread) when a message of that queue has become ready or has got
     * a due time. It MUST NOT block and MUST NOT call the store. One listener, which must outlive
     * the store. */
    void (*listen)(struct store *store, void (*ready)(void *arg, uint32_t queue), void *arg);
    /* Waits until all submitted commits are done, then closes and frees the store. */
    void (*close)(struct store *store);
};

struct store {
    const struct store_vtable *vtable;
    /* The reading side of this store (port/letters.h), for threads that may wait. */
    struct letters *letters;
};

#endif
