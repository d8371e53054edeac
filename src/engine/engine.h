/* engine: receive → hand over → judge → record → settle, for all queues, on one thread.
 *
 * The engine is the only owner of its queues' state. Other threads send requests through its
 * mailbox (reports, pause, resume, new policy) and read copies of its state (views). engine_turn
 * does one turn and never waits, so that a simulation can drive it; engine_run is the thread that
 * calls it. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/thread/mailbox.h"
#include "core/outage/breaker.h"
#include "core/outage/flood.h"
#include "core/policy.h"
#include "engine/queue/versions.h"
#include "port/broker.h"
#include "port/clock.h"
#include "port/handler.h"
#include "port/jq.h"
#include "port/sink.h"
#include "port/broker_kind.h"
#include "port/spans.h"
#include "port/spill.h"
#include "port/store.h"

enum { ENGINE_SECONDS_BUCKETS = 14 };
extern const double engine_seconds_bounds[ENGINE_SECONDS_BUCKETS]; /* upper bounds; +Inf follows */

enum on_full { ON_FULL_BLOCK, ON_FULL_SPILL };

/* The part of a DLQ's configuration that the engine uses. */
struct engine_dlq {
    struct bytes name;
    uint64_t cap;
    enum on_full on_full;
    struct bytes owner;
    struct bytes archive; /* for spill */
    struct bytes runbook; /* where the instructions for operators are; empty: none. For alerts */
    struct bytes mirror;  /* a sink's URL, from which struct engine_mirror is made; empty: none */
};

/* Where a message's idempotency key is (SEMANTICS §9). */
struct engine_idempotency {
    struct bytes path;   /* into the body: ".order_id"; empty: use the header … */
    struct bytes header; /* … with this name; both empty: off */
    int64_t dedupe_ms;   /* default: 24 h */
};

/* Where successful answers go (DESIGN §5). */
struct engine_reply {
    int64_t store_ms;  /* > 0: kept for this long under the message's id */
    struct sink *sink; /* or published to this sink; NULL: neither */
};

/* Letters that arrive in this DLQ are published to this sink first. */
struct engine_mirror {
    struct bytes dlq;
    struct sink *sink;
};

/* Letters in flight to their origin, of a queue in no configuration. */
enum { ENGINE_SERVED_AT_ONCE = 32 };

#define ENGINE_UNLIMITED UINT32_MAX /* as a concurrency */

/* Everything that may change while the queue runs. The memory behind the pointers must live until
 * engine_free, also after a reload replaced it: letters in a commit borrow from it. */
struct engine_rules {
    const struct policy *policy;
    uint32_t concurrency;
    const struct engine_dlq *dlqs; /* every DLQ that this queue can reach, its default one first */
    size_t dlq_count;
    struct engine_idempotency idempotency;
    enum store_order order;
    bool on_dead_continue;  /* a letter does not close its key */
    uint32_t blocked_limit; /* default 1000: messages that may wait behind one closed key */
    struct flood_policy flood;
};

/* One handler of a queue. */
struct engine_handler {
    struct handler *handler;
    struct bytes edit;    /* a jq program that makes the body for this handler; empty: unchanged */
    uint32_t batch;       /* > 1: up to this many messages in one hand-over */
    int64_t timeout_ms;   /* of one hand-over, for display; 0: not known */
    struct bytes version; /* of the consumer, if its answers do not state one; empty: not known */
    struct engine_reply reply;
};

struct engine_queue_options {
    struct bytes name;
    struct engine_rules rules;
    struct broker *broker;
    /* The source's consumer group, for spans; empty: in the messages, or none. */
    struct bytes group;
    const struct engine_handler *handlers;   /* the queue's handler, then its fallbacks */
    size_t handler_count;                    /* 0: workers lease from the queue … */
    struct engine_reply lease_reply;         /* … and their answers go there */
    const struct engine_handler *compensate; /* for letters that are compensated; NULL: none */
    const struct engine_mirror *mirrors;     /* outlive the engine */
    size_t mirror_count;
};

/* An event to publish (GET /v1/events, alerts). Borrowed for the call. */
struct engine_event {
    const char *type;  /* "letter" "queue" "breaker" */
    struct bytes json; /* {"type":"letter","at":…,"queue":…,…} */
    /* Of a "letter": its present state, which is durable; else NULL. */
    const struct envelope *letter;
};

struct engine_options {
    struct store *store;
    struct clock *clock;
    struct jq *jq;       /* NULL: no rule has a jq program */
    struct spill *spill; /* NULL: no DLQ spills */
    struct spans *spans; /* NULL: tracing is off */
    /* Brokers whose coordinates become attributes of spans; ends with NULL. NULL: none. */
    const struct broker_kind *const *brokers;
    struct body_memory *memory;   /* NULL: no limit on the bodies in memory */
    uint64_t seed;                /* for jitter and ids */
    const char *attempt_log_path; /* the attempt log's file; NULL: none (simulation) */
    struct bytes instance;
    /* Called on the engine's thread; may be NULL. */
    void (*event)(void *arg, const struct engine_event *event);
    void *event_arg;
    /* The sink for a letter that goes back to its origin; returns NULL if there is none. Called on
     * the engine's thread; MUST NOT block. May be NULL. */
    struct sink *(*origin)(void *arg, const struct envelope *letter);
    void *origin_arg;
};

struct engine;

struct engine *engine_new(const struct engine_options *options);
/* Before the first turn only. INVALID: a rule's pattern does not compile (err names the rule). */
enum status engine_add(struct engine *engine, const struct engine_queue_options *queue,
                       struct err *err);
/* Reads the attempt log and notes the attempts that a crash interrupted. Before the first turn
 * only. */
enum status engine_recover(struct engine *engine, struct err *err);
/* Does one turn; returns when the next turn is due if no event comes before. */
struct mono engine_turn(struct engine *engine, struct instant now);
/* Does turns until engine_stop; the calling thread becomes the engine's. */
void engine_run(struct engine *engine);
/* The engine also sends letters of this queue, which is not in its configuration, to their origin.
 * From any thread; repeated calls are harmless. */
void engine_serve(struct engine *engine, struct bytes queue);
/* Stopping has two steps, both from any thread. engine_hold: nothing more is received or handed
 * over, and requests are refused; attempts in flight have drain_ms, then they are interrupted.
 * engine_stop, after it: no more requests will come, so engine_run returns as soon as everything
 * has ended. */
void engine_hold(struct engine *engine, int64_t drain_ms);
void engine_stop(struct engine *engine);
void engine_free(struct engine *engine);

/* ---- leases: workers that fetch messages (SEMANTICS §6) ---- */

enum {
    ENGINE_LEASE_MESSAGES_MAX = 1000,      /* in one answer */
    ENGINE_LEASE_WAIT_MAX_MS = 60 * 1000,  /* a long poll */
    ENGINE_LEASE_MAX_MS = 12 * 3600 * 1000 /* one lease or extension */
};
enum { ENGINE_LEASE_TEXT_SIZE = 33 }; /* a lease id as the worker gets it: hex, with a NUL */

/* One message leased to a worker. */
struct engine_leased {
    char lease[ENGINE_LEASE_TEXT_SIZE];
    const struct message *held;        /* the engine's; borrowed for the call of `done` only */
    uint32_t attempt;                  /* the number of this attempt */
    const struct rule_header *headers; /* the headers for the worker; live as long as `held` */
    size_t header_count;
};

struct engine_request;
struct engine_lease {
    uint32_t max;
    int64_t wait_ms, lease_ms;
    struct bytes version;           /* the worker's version; empty: not stated */
    struct bytes instance;          /* the worker's name; empty: not stated */
    struct engine_leased *messages; /* out: the caller's array, with room for max */
    size_t count;                   /* out; 0: nothing came within wait_ms */
    /* True if the client has disconnected, so that no message may be leased to it: called on the
     * engine's thread just before a message would be. MUST NOT block. NULL: the client never
     * disconnects. */
    bool (*gone)(const struct engine_request *request);
};

/* One answer of a worker to a lease, and its result. */
struct engine_release {
    enum engine_release_kind { RELEASE_ACK, RELEASE_FAIL, RELEASE_EXTEND } kind;
    struct bytes lease;
    struct outcome outcome; /* FAIL; ACK: the answer, if there is one. Texts are the caller's */
    int64_t lease_ms;       /* EXTEND; 0: the same duration again */
    /* Out: OK; NOT_FOUND: no such lease, or its message is gone; CONFLICT: the message was leased
     * again, or (EXTEND) the lease has expired. */
    enum status status;
    struct err err;
};

/* One message to bury, discard or retry, and the result. */
struct engine_removal {
    uint64_t seq; /* the message's number in the store */
    /* Out: OK: the change is durable (a message whose DLQ is full waits for room there); CONFLICT:
     * the message is in flight, or is a letter in replay; NOT_FOUND: it no longer waits; BUSY: the
     * store cannot commit now, or the mirror or archive is down; the change is made once they
     * recover. */
    enum status status;
    struct err err;
    /* Out: the envelope as JSON, because the store may no longer have the message: the letter is in
     * its DLQ's archive, or the message is in flight. For requests with one message only. To be
     * freed by the caller. */
    struct buf spilled;
};

/* ---- requests, answered from the engine's thread ---- */

/* A message to the engine: `open` is called on its thread. */
struct engine_post {
    struct mail mail;
    void (*open)(struct engine *engine, struct engine_post *post);
};

/* Owned by the caller until `done`. */
struct engine_request {
    enum engine_request_kind {
        ENGINE_REPORT,
        ENGINE_PAUSE,
        ENGINE_RESUME,
        ENGINE_RELOAD,
        ENGINE_LEASE,   /* leases messages to a worker */
        ENGINE_RELEASE, /* a worker's answers; `queue` is not used */
        ENGINE_BURY,    /* moves waiting messages into their DLQ … */
        ENGINE_DISCARD, /* … or discards them, with an audit entry */
        ENGINE_RETRY,   /* makes messages that wait for a retry due now */
    } kind;
    struct bytes queue;
    /* Called exactly once, after the change is durable. MUST NOT block. */
    void (*done)(struct engine_request *request, enum status status);
    void *arg;
    struct err err;

    /* REPORT (SEMANTICS 13.3): the message as far as it is known, its failure, and its body. The
     * engine takes ownership of `held` and returns it in `done` with state, letter_id,
     * next_attempt_at and reason set. */
    struct message *held_take;
    struct outcome outcome; /* texts in held's arena */
    enum verdict verdict;   /* out */

    struct bytes why; /* PAUSE: may be empty. BURY, DISCARD, RETRY */
    /* PAUSE, RESUME, BURY, DISCARD, RETRY: note for the same commit; NULL: none. */
    const struct store_keep *keep;
    const struct engine_rules *rules; /* RELOAD */

    struct engine_lease *lease;     /* LEASE */
    struct engine_release *release; /* RELEASE: the answers … */
    size_t release_count;           /* … how many */
    struct engine_removal *removal; /* BURY, DISCARD, RETRY: the messages, all of `queue` … */
    size_t removal_count;           /* … how many */

    struct engine_post post; /* used by the engine until `done` */
};
/* NOT_FOUND (unknown queue) and BUSY (the DLQ is full and blocks, or the engine is stopping) are
 * passed to `done`. */
void engine_ask(struct engine *engine, struct engine_request *request);

/* ---- views: copies, from any thread ---- */

enum queue_state { QUEUE_RUNNING, QUEUE_PAUSED, QUEUE_HALTED };

/* The label of attempts_total{result}. */
enum attempt_result {
    RESULT_OK,
    RESULT_RETRY,
    RESULT_DLQ,
    RESULT_DISCARD,
    RESULT_HALT,
    RESULT_INTERRUPTED,
    RESULT_PROBE_FAILED,
    RESULT_DUPLICATE,
    RESULT_COUNT
};
const char *attempt_result_text(enum attempt_result result); /* "ok" "retry" "dlq" … */

/* Per minute: messages received, attempts that succeeded, attempts that failed. */
struct engine_rates {
    uint64_t in, ok, failed;
};

enum { ENGINE_BREAKER_WHY_SIZE = 192 };

/* First attempts that are dead-lettered for one failure, while this goes on (SEMANTICS 4.9). */
struct engine_flood {
    bool on;
    bool held; /* the queue is halted because of it */
    uint64_t fingerprint;
    uint32_t dead, of; /* first attempts within the window */
    char dlq[256], reason[128];
    /* The consumer's version that came with the failure; "": not known. */
    char version[FLOOD_VERSION_MAX];
};

enum { ENGINE_WHY_SIZE = 256 };

struct engine_queue_view {
    char name[256];
    enum queue_state state;
    char why[ENGINE_WHY_SIZE];
    /* Decisions cannot be stored because commits fail; `why` has the reason. */
    bool stuck;
    bool dlq_full;         /* one of its DLQs is full */
    char full_dlqs[512];   /* their names, separated by commas; empty if the list is too long */
    bool receives_nothing; /* too many messages wait for room in them */
    bool checking; /* a message was refused: others are tried before the queue halts (why) */
    bool ordered;  /* order: key */
    uint32_t concurrency;
    uint64_t in_flight;
    struct store_queue_counts counts;
    uint64_t lag;
    enum breaker_state breaker;
    struct wall breaker_until;                 /* while open */
    int64_t breaker_open_ms;                   /* time since it was last closed */
    char breaker_why[ENGINE_BREAKER_WHY_SIZE]; /* the failure that last opened it */
    struct engine_flood flood;
    double budget_remaining_ratio;
    uint64_t results[RESULT_COUNT];
    uint64_t retries, fallbacks, jq_errors;
    uint64_t leases_expired, workers_waiting;
    uint64_t same_ids;         /* messages whose id another held message already has */
    struct engine_rates rates; /* of the last minute */
    uint64_t seconds_buckets[ENGINE_SECONDS_BUCKETS + 1]; /* not cumulative */
    double seconds_sum;
    char versions[VERSIONS_MAX][VERSION_TEXT_MAX]; /* of its consumers, in use */
    size_t version_count;
    char handler[16]; /* its first handler's kind, or "lease" */
    char source[16];  /* its broker's kind */
    bool source_connected;
    char source_trouble[sizeof((struct err){0}).text]; /* why not; empty while it is connected */
    /* What waits for a sink, and the reason; or empty. */
    char sink_trouble[sizeof((struct err){0}).text];
};
const char *queue_state_text(enum queue_state state); /* "running" "paused" "halted" */
/* False when there is no such queue. */
bool engine_view(struct engine *engine, struct bytes queue, struct engine_queue_view *out);
/* True for a DLQ with on_full: block that is full, until it is below 95 % of its cap. */
bool engine_dlq_is_full(struct engine *engine, struct bytes dlq);
size_t engine_queue_count(struct engine *engine);
/* By index, in the order of the configuration. False after the last. */
bool engine_view_at(struct engine *engine, size_t place, struct engine_queue_view *out);
/* Over a window of up to an hour. */
struct engine_rates engine_rates_at(struct engine *engine, size_t place, int64_t window_ms);

#endif
