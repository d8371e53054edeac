/* engine: receive → hand over → judge → record → settle, for all queues, on one thread.
 *
 * The engine owns its queues' state outright. Others talk to it through its mailbox (reports,
 * pause, resume, new policy) and read copies of its state (views). engine_turn does one turn and
 * never waits, so that a simulation can drive it by hand; engine_run is the thread that calls it.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/thread/mailbox.h"
#include "core/outage/breaker.h"
#include "core/outage/flood.h"
#include "core/policy.h"
#include "engine/versions.h"
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

/* What a DLQ's configuration says to the engine. */
struct engine_dlq {
    struct bytes name;
    uint64_t cap;
    enum on_full on_full;
    struct bytes owner;
    struct bytes archive; /* for spill */
    struct bytes runbook; /* where it says what to do; empty: nowhere. For alerts */
    struct bytes mirror;  /* a sink's URL, for whoever makes the mirrors; empty: none */
};

/* Where a message's idempotency key is (SEMANTICS §9). */
struct engine_idempotency {
    struct bytes path;   /* into the body: ".order_id"; empty: not there … */
    struct bytes header; /* … but in this header; both empty: off */
    int64_t dedupe_ms;   /* 24 h */
};

/* What becomes of successful answers (DESIGN §5). */
struct engine_reply {
    int64_t store_ms;  /* > 0: kept for so long under the message's id */
    struct sink *sink; /* or published there; NULL: neither */
};

/* Letters that arrive in this DLQ are published there first. */
struct engine_mirror {
    struct bytes dlq;
    struct sink *sink;
};

enum { ENGINE_SERVED_AT_ONCE = 32 }; /* letters on their way, of a queue that is not ours */

#define ENGINE_UNLIMITED UINT32_MAX /* as a concurrency */

/* Everything that may change while the queue runs. What the pointers point at must live until
 * engine_free, also after a reload replaced them: letters on their way to the store borrow from it.
 */
struct engine_rules {
    const struct policy *policy;
    uint32_t concurrency;
    const struct engine_dlq *dlqs; /* every DLQ that this queue can reach, its default one first */
    size_t dlq_count;
    struct engine_idempotency idempotency;
    enum store_order order;
    bool on_dead_continue;  /* a dead head does not close its key */
    uint32_t blocked_limit; /* 1000: waiting messages of one closed key */
    struct flood_policy flood;
};

/* One handler of a queue. */
struct engine_handler {
    struct handler *handler;
    struct bytes edit;    /* a jq program that makes the body that this one sees; empty: as it is */
    uint32_t batch;       /* > 1: up to so many messages in one hand-over */
    int64_t timeout_ms;   /* of one hand-over, for people; 0: not known */
    struct bytes version; /* of what it runs, where it does not say itself; empty: not known */
    struct engine_reply reply;
};

struct engine_queue_options {
    struct bytes name;
    struct engine_rules rules;
    struct broker *broker;
    struct bytes group; /* the source's consumer group, for spans; empty: messages say, or none */
    const struct engine_handler *handlers;   /* the queue's handler, then its fallbacks */
    size_t handler_count;                    /* 0: workers lease from it … */
    struct engine_reply lease_reply;         /* … and their answers go there */
    const struct engine_handler *compensate; /* for letters that are compensated; NULL: none */
    const struct engine_mirror *mirrors;     /* outlive the engine */
    size_t mirror_count;
};

/* Something that people want to see happen (GET /v1/events, alerts). Borrowed for the call. */
struct engine_event {
    const char *type;              /* "letter" "queue" "breaker" */
    struct bytes json;             /* {"type":"letter","at":…,"queue":…,…} */
    const struct envelope *letter; /* of a "letter": as it is now, durable; else NULL */
};

struct engine_options {
    struct store *store;
    struct clock *clock;
    struct jq *jq;       /* NULL: no rule has one */
    struct spill *spill; /* NULL: no DLQ spills */
    struct spans *spans; /* NULL: nobody traces */
    /* Whose coordinates become attributes of spans; ends with NULL. NULL: none. */
    const struct broker_kind *const *brokers;
    struct body_memory *memory;   /* NULL: bodies have no limit together */
    uint64_t seed;                /* of jitter and ids */
    const char *attempt_log_path; /* the attempt log's file; NULL: none (simulation) */
    struct bytes instance;
    void (*event)(void *arg,
                  const struct engine_event *event); /* from the engine's thread; may be NULL */
    void *event_arg;
    /* Where a letter goes that is to go back to its origin; NULL: nothing leads there. From the
     * engine's thread; MUST NOT block. May be NULL. */
    struct sink *(*origin)(void *arg, const struct envelope *letter);
    void *origin_arg;
};

struct engine;

struct engine *engine_new(const struct engine_options *options);
/* Before the first turn only. INVALID: a rule's pattern does not compile (err names the rule). */
enum status engine_add(struct engine *engine, const struct engine_queue_options *queue,
                       struct err *err);
/* Reads the attempt log and notes what our last death interrupted. Before the first turn. */
enum status engine_recover(struct engine *engine, struct err *err);
/* One turn; returns when the next is wanted if nothing happens before. */
struct mono engine_turn(struct engine *engine, struct instant now);
/* Turns until engine_stop; the calling thread becomes the engine's. */
void engine_run(struct engine *engine);
/* Letters of a queue that this engine may not have will go to their origin: it sees to those, too.
 * From any thread, as often as one likes. */
void engine_serve(struct engine *engine, struct bytes queue);
/* Stopping has two steps, both from any thread. engine_hold: nothing more is received or handed
 * over, requests are refused; what is under way has drain_ms, then it is interrupted. engine_stop,
 * after it: nobody will ask anything more, so engine_run returns as soon as everything has ended.
 */
void engine_hold(struct engine *engine, int64_t drain_ms);
void engine_stop(struct engine *engine);
void engine_free(struct engine *engine);

/* ---- leases: handlers that come and fetch (SEMANTICS §6) ---- */

enum {
    ENGINE_LEASE_MESSAGES_MAX = 1000,      /* in one answer */
    ENGINE_LEASE_WAIT_MAX_MS = 60 * 1000,  /* a long poll */
    ENGINE_LEASE_MAX_MS = 12 * 3600 * 1000 /* one lease or extension */
};
enum { ENGINE_LEASE_TEXT_SIZE = 33 }; /* a lease as its worker knows it: hex, with a NUL */

/* One message for a worker. */
struct engine_leased {
    char lease[ENGINE_LEASE_TEXT_SIZE];
    const struct message *held;        /* the engine's; borrowed for `done` alone */
    uint32_t attempt;                  /* that this hand-over is */
    const struct rule_header *headers; /* as the worker is to see them; as long as `held` */
    size_t header_count;
};

struct engine_request;
struct engine_lease {
    uint32_t max;
    int64_t wait_ms, lease_ms;
    struct bytes version;           /* of the worker; empty: it does not say */
    struct bytes instance;          /* the worker's name; empty: it does not say */
    struct engine_leased *messages; /* out: room for max, the caller's */
    size_t count;                   /* out; 0: nothing came within wait_ms */
    /* Whoever asked has gone away, so that nothing may be given to it: asked from the engine's
     * thread just before something would be. MUST NOT block. NULL: it never does. */
    bool (*gone)(const struct engine_request *request);
};

/* One answer of a worker, and what became of it. */
struct engine_release {
    enum engine_release_kind { RELEASE_ACK, RELEASE_FAIL, RELEASE_EXTEND } kind;
    struct bytes lease;
    struct outcome outcome; /* FAIL; ACK: its answer, where there is one. Texts are the caller's */
    int64_t lease_ms;       /* EXTEND; 0: as long as before */
    enum status status;     /* out: OK; NOT_FOUND: no such lease, or its message is gone; CONFLICT:
                             * it was leased again, or (EXTEND) the lease is over */
    struct err err;
};

/* One message that is buried or discarded, and what became of it. */
struct engine_removal {
    uint64_t seq;       /* the store's number for it */
    enum status status; /* out: OK, its change is durable (a message whose DLQ is full waits for
                         * room there); CONFLICT: it is running, or a letter that is replayed;
                         * NOT_FOUND: it does not wait any more; BUSY: the store cannot commit now,
                         * or its mirror or archive takes nothing; it is done once they do */
    struct err err;
    /* Out: the envelope as JSON, where the store may not have the message any more: the letter is
     * in its DLQ's archive, or the message is tried now. Of a request for one message only. The
     * caller's to free. */
    struct buf spilled;
};

/* ---- requests, answered from the engine's thread ---- */

/* Mail to the engine: `open` is called on its thread. */
struct engine_post {
    struct mail mail;
    void (*open)(struct engine *engine, struct engine_post *post);
};

/* The caller's until done. */
struct engine_request {
    enum engine_request_kind {
        ENGINE_REPORT,
        ENGINE_PAUSE,
        ENGINE_RESUME,
        ENGINE_RELOAD,
        ENGINE_LEASE,   /* messages for a worker */
        ENGINE_RELEASE, /* a worker's answers; `queue` is not used */
        ENGINE_BURY,    /* waiting messages, into their DLQ … */
        ENGINE_DISCARD, /* … or out of the way, on the record */
        ENGINE_RETRY,   /* messages that wait for a retry: due now */
    } kind;
    struct bytes queue;
    /* Called exactly once, after what it changed is durable. MUST NOT block. */
    void (*done)(struct engine_request *request, enum status status);
    void *arg;
    struct err err;

    /* REPORT (SEMANTICS 13.3): the message as far as it is known, its failure, and its body. The
     * engine takes `held` and answers with it (state, letter_id, next_attempt_at, reason set). */
    struct message *held_take;
    struct outcome outcome; /* texts in held's arena */
    enum verdict verdict;   /* out */

    struct bytes why;                 /* PAUSE: may be empty. BURY, DISCARD, RETRY */
    const struct store_keep *keep;    /* PAUSE, RESUME, BURY, DISCARD, RETRY: kept in the same
                                       * commit; NULL: nothing */
    const struct engine_rules *rules; /* RELOAD */

    struct engine_lease *lease;     /* LEASE */
    struct engine_release *release; /* RELEASE: the answers … */
    size_t release_count;           /* … how many */
    struct engine_removal *removal; /* BURY, DISCARD, RETRY: the messages, all of `queue` … */
    size_t removal_count;           /* … how many */

    struct engine_post post; /* the engine's, until done */
};
/* NOT_FOUND (unknown queue), BUSY (the DLQ is full and blocks, or the engine is stopping) are given
 * through done. */
void engine_ask(struct engine *engine, struct engine_request *request);

/* ---- views: copies, from any thread ---- */

enum queue_state { QUEUE_RUNNING, QUEUE_PAUSED, QUEUE_HALTED };

/* attempts_total{result}: */
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

/* Per minute: messages that came in, attempts that succeeded, attempts that failed. */
struct engine_rates {
    uint64_t in, ok, failed;
};

enum { ENGINE_BREAKER_WHY_SIZE = 192 };

/* First attempts that die of one failure, while that is on (SEMANTICS 4.9). */
struct engine_flood {
    bool on;
    bool held; /* its queue is halted for it */
    uint64_t fingerprint;
    uint32_t dead, of; /* first attempts within the window */
    char dlq[256], reason[128];
    char version[FLOOD_VERSION_MAX]; /* the consumer's that came with it; "": not known */
};

enum { ENGINE_WHY_SIZE = 256 };

struct engine_queue_view {
    char name[256];
    enum queue_state state;
    char why[ENGINE_WHY_SIZE];
    bool stuck;            /* what was decided is not stored: commits of it fail; `why` says how */
    bool dlq_full;         /* one of its DLQs is full */
    char full_dlqs[512];   /* their names, separated by commas; empty where they are too long */
    bool receives_nothing; /* so many messages wait for room in them */
    bool checking; /* a message was refused: others are asked before the queue halts (why) */
    bool ordered;  /* order: key */
    uint32_t concurrency;
    uint64_t in_flight;
    struct store_queue_counts counts;
    uint64_t lag;
    enum breaker_state breaker;
    struct wall breaker_until;                 /* while open */
    int64_t breaker_open_ms;                   /* for how long it has not been closed */
    char breaker_why[ENGINE_BREAKER_WHY_SIZE]; /* the failure that last opened it */
    struct engine_flood flood;
    double budget_remaining_ratio;
    uint64_t results[RESULT_COUNT];
    uint64_t retries, fallbacks, jq_errors;
    uint64_t leases_expired, workers_waiting;
    uint64_t same_ids;         /* messages that came with an id which another one is held with */
    struct engine_rates rates; /* of the last minute */
    uint64_t seconds_buckets[ENGINE_SECONDS_BUCKETS + 1]; /* not cumulative */
    double seconds_sum;
    char versions[VERSIONS_MAX][VERSION_TEXT_MAX]; /* of its consumers, in use */
    size_t version_count;
    char handler[16]; /* its first handler's kind, or "lease" */
    char source[16];  /* its broker's kind */
    bool source_connected;
    char source_trouble[sizeof((struct err){0}).text]; /* why not; empty while it is */
    char sink_trouble[sizeof((struct err){0}).text]; /* what waits for a sink, and why; or empty */
};
const char *queue_state_text(enum queue_state state); /* "running" "paused" "halted" */
/* False when there is no such queue. */
bool engine_view(struct engine *engine, struct bytes queue, struct engine_queue_view *out);
/* A DLQ with on_full: block that is full, until it is below 95 % of its cap. */
bool engine_dlq_is_full(struct engine *engine, struct bytes dlq);
size_t engine_queue_count(struct engine *engine);
/* By place, in the order of the configuration. False behind the last. */
bool engine_view_at(struct engine *engine, size_t place, struct engine_queue_view *out);
/* Over a window of up to an hour. */
struct engine_rates engine_rates_at(struct engine *engine, size_t place, int64_t window_ms);

#endif
