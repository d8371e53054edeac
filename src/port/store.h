/* store: where messages are safe.
 *
 * The store keeps envelopes with their bodies; an envelope's state says where it is listed: live
 * ones (queued, pending_retry) wait to be taken, letters wait for people. A message is PUT, UPDATED
 * or MARKED while it is held, and FORGOTTEN when it succeeded; beside the messages stand each
 * queue's facts, and texts that are kept for a time.
 *
 * Changes are submitted as commits. A commit is all or nothing, is durable (fsynced) before `done`
 * says so, and becomes visible to take, get, list and the counters at that moment, not before. All
 * commits that wait share one sync.
 *
 * Every function may be called from any thread, except that one thread at a time takes from a
 * queue. */
#ifndef PORT_STORE_H
#define PORT_STORE_H

#include "base/arena.h"
#include "base/instant.h"
#include "base/status.h"
#include "core/envelope.h"
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

/* Texts that are kept beside the messages. A name is 1 to STORE_NAME_MAX bytes. */
enum store_space {
    SPACE_RESULT,     /* by message id: the handler's answer, as result JSON */
    SPACE_DONE,       /* by idempotency key: what succeeded under it, {"id":…} */
    SPACE_ORIGINAL,   /* by letter id: the body as it was before an edit */
    SPACE_REPLAY,     /* by replay id: its plan and progress; and its frozen selection in parts */
    SPACE_GROUP,      /* by fingerprint: what people noted of a group */
    SPACE_AUDIT,      /* by UUIDv7: who changed what, and why */
    SPACE_ALERT,      /* by rule and subject: what fires, and who was told */
    SPACE_TRIAGE,     /* by DLQ and rule: when a triage rule last ran, and with what success */
    SPACE_ARRIVALS,   /* one text: how many letters came when */
    SPACE_ADOPTED,    /* by entry and identity: which letter a dead letter of another system is */
    SPACE_VERSION,    /* one text: which version last started on the store */
    SPACE_ESCALATION, /* by id and DLQ: letters that were escalated, until receivers are told */
    SPACE_COUNT
};

enum { STORE_NAME_MAX = 512 };

struct store_keep {
    enum store_space space;
    struct bytes name;
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

/* The caller's until submit returns (ops, envelopes, bodies) and until done (the commit itself). */
struct store_commit {
    struct store_op *ops;
    size_t count;
    /* Called exactly once, from the store's thread or from inside submit (when refused at once, or
     * with `waits`: of this commit or another). MUST NOT block. status OK: durable. CONFLICT: op
     * `refused` has an id that is held with another body, and nothing was changed. IO, FULL:
     * nothing was changed; it may be submitted again. TOO_LARGE: nothing was changed; it has more
     * than STORE_COMMIT_BYTES, and may be submitted again in parts. */
    void (*done)(struct store_commit *commit, enum status status);
    void *arg;
    bool waits; /* its thread does nothing else before it is answered: the store may use it */
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

/* ---- reading ---- */

enum store_tristate { STORE_ANY, STORE_NO, STORE_YES };

struct store_query {
    struct bytes queue, dlq;                               /* empty: any */
    uint32_t states;                                       /* bit per enum state; 0: any */
    struct bytes category, reason_prefix, error_type, key; /* empty: any */
    struct bytes text;                                     /* full-text search; empty: any */
    bool has_cause;
    enum cause cause;
    bool has_fingerprint;
    uint64_t fingerprint;
    /* since ≤ t < until, by dead_at for letters, created_at for live ones; 0: open. */
    struct wall since, until;
    uint32_t min_attempts;
    enum store_tristate escalated;
    bool letters;      /* only what has a letter id */
    bool oldest_first; /* instead of newest first; what arrives meanwhile comes last */
    size_t limit;
    struct bytes cursor; /* from the page before; empty: the first page */
};

struct store_row {
    uint64_t seq;
    struct bytes envelope; /* as envelope_store writes it, its state as of now; ptr NULL: damaged */
    struct bytes id;       /* where the envelope is damaged: of the letter, else of the message */
};

/* Newest first, unless the query says otherwise. Lives in the arena that was passed. */
struct store_page {
    struct store_row *rows;
    size_t count;
    struct bytes cursor; /* ptr NULL: that was the last page */
    uint64_t behind;     /* changes committed but not yet visible in lists */
};

/* What a query chooses, counted. */
struct store_sum {
    uint64_t count[STATE_COUNT];
    uint64_t adopted;   /* of them, those of CAUSE_ADOPTED, or more: 0 is to be trusted */
    struct wall newest; /* dead_at of the newest; WALL_NEVER: there is none */
    uint64_t behind;    /* as of a page */
};

struct store_count {
    struct bytes name;
    uint64_t count;
};

enum { STORE_AGE_BUCKETS = 6 }; /* ≤1m ≤10m ≤1h ≤6h ≤24h older */

struct store_dlq {
    struct bytes name;
    uint64_t depth;
    uint64_t spilled;
    uint64_t total; /* letters that ever arrived */
    uint64_t by_state[STATE_COUNT];
    uint64_t arrivals_last_minute;
    struct wall oldest; /* dead_at of the oldest that counts in depth; WALL_NEVER: none */
    struct store_count *by_category, *by_reason; /* of depth, most first */
    size_t category_count, reason_count;
    uint64_t ages[STORE_AGE_BUCKETS]; /* of depth, not cumulative */
    struct store_count *arrived; /* ever, by "category\0reason": for impound_dlq_letters_total */
    size_t arrived_count;
};

struct store_kept {
    struct bytes name, value;
};

/* The letters of one DLQ with one fingerprint. */
struct store_group {
    uint64_t fingerprint;
    struct bytes dlq;
    uint64_t count;                    /* of depth; 0: all were resolved or discarded */
    uint64_t total;                    /* ever */
    struct wall first_seen, last_seen; /* by dead_at */
    uint64_t sample;                   /* seq of the last letter; its envelope tells the rest */
};

enum { STORE_COMMIT_BUCKETS = 12 };
/* Upper bounds; +Inf follows. */
extern const double store_commit_bounds_seconds[STORE_COMMIT_BUCKETS];

struct store_health {
    bool writable;        /* the last commit went through */
    struct err trouble;   /* why not */
    uint64_t fold_behind; /* changes committed but not yet in the file that people query */
    uint64_t journal_bytes, wal_bytes;
    uint64_t reserve_bytes; /* of the disk, kept for freeing room; 0: given up, or there is none */
    uint64_t commit_buckets[STORE_COMMIT_BUCKETS + 1]; /* not cumulative; the last is +Inf */
    double commit_seconds;                             /* sum */
};

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

    /* By message id (in `queue`, or in any when it is empty) or letter id. NOT_FOUND; CONFLICT when
     * several queues hold it (err lists them). Of several in one queue: the one that is neither
     * resolved nor discarded, else the newest. Always current. */
    enum status (*get)(struct store *store, struct bytes queue, struct bytes id,
                       struct message **out, struct err *err);
    /* Which of these message ids the queue holds, in whatever state. Always current. */
    enum status (*holds)(struct store *store, uint32_t queue, const struct bytes *ids, size_t count,
                         bool *out, struct err *err);
    /* By the store's own number, whatever its state. NOT_FOUND; other trouble when it is held but
     * cannot be read. Always current. */
    enum status (*get_seq)(struct store *store, uint64_t seq, struct message **out,
                           struct err *err);
    /* Waits at most 2 s for the fold of what was committed before. MUST NOT be called on an engine
     * thread. A row that cannot be read is in the list without its envelope. INVALID when the
     * cursor or the search text is not understood. */
    enum status (*list)(struct store *store, const struct store_query *query, struct arena *arena,
                        struct store_page *out, struct err *err);
    /* How many letters a list of the query would show on all its pages, without reading any; of
     * states that letters alone are in. Limit and cursor are not looked at. Waits as list does. */
    enum status (*sum)(struct store *store, const struct store_query *query, struct store_sum *out,
                       struct err *err);
    /* What is kept under the name and not expired; NOT_FOUND; CONFLICT when `queue` is 0 and
     * several queues keep it. Always current. */
    enum status (*kept)(struct store *store, uint32_t queue, enum store_space space,
                        struct bytes name, struct wall now, struct arena *arena,
                        struct bytes *value, struct err *err);
    /* Up to `limit` of a space, by name, those whose name starts with `prefix` and is greater (with
     * `descending`: less) than `after` (empty: from the end in question). Always current. */
    enum status (*kept_list)(struct store *store, enum store_space space, struct bytes prefix,
                             struct bytes after, bool descending, size_t limit, struct arena *arena,
                             struct store_kept *out, size_t *count, struct err *err);
    /* Groups of the letters that count in depth, by fingerprint: of one DLQ or (empty) of all; most
     * letters first. Always current, O(groups). */
    size_t (*groups)(struct store *store, struct bytes dlq, struct arena *arena,
                     struct store_group **out);
    uint64_t (*dlq_depth)(struct store *store, struct bytes name); /* O(1) */
    /* NOT_FOUND when nothing was ever put there. Always current. */
    enum status (*dlq)(struct store *store, struct bytes name, struct wall now, struct arena *arena,
                       struct store_dlq *out);
    /* Names of all DLQs that ever held a letter, sorted. */
    size_t (*dlq_names)(struct store *store, struct arena *arena, struct bytes **out);
    void (*health)(struct store *store, struct store_health *out);

    /* Called (from any thread) when a message of that queue has become ready or has got a due time.
     * MUST NOT block, MUST NOT call the store. One listener, which must outlive the store. */
    void (*listen)(struct store *store, void (*ready)(void *arg, uint32_t queue), void *arg);
    /* Waits for what was submitted; then everything is closed and freed. */
    void (*close)(struct store *store);
};

struct store {
    const struct store_vtable *vtable;
};

#endif
