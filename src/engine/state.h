/* state: the structures that the engine's files share; private to the engine.
 *
 *   mailbox ──▶ attempt (one message in the engine) ──▶ batch (one commit) ──▶ settled
 *
 * An attempt is created when a message is received and freed when its result is durable. All of
 * this belongs to the engine's thread; `mutex` is held for the length of a turn, so that views
 * taken by other threads see the state between two turns. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "base/containers/heap.h"
#include "base/log.h"
#include "base/text/traceparent.h"
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "core/outage/budget.h"
#include "core/outage/connection_log.h"
#include "core/decide.h"
#include "core/note_space.h"
#include "core/outage/second_opinion.h"
#include "engine/engine.h"
#include "engine/attempt/attempt.h"
#include "engine/judge/clock_jumps.h"
#include "engine/queue/rate.h"
#include "port/letters.h"

enum {
    QUEUE_SETTLING_MAX = 1024,   /* attempts of one queue that wait for their commit */
    QUEUE_STOPS_MAX = 32,        /* graceful stops that are remembered (stops.h) */
    QUEUE_FULL_POLL_MS = 1000,   /* how often a full DLQ is checked again */
    RECORD_RETRY_FIRST_MS = 100, /* after a commit that failed; doubles … */
    RECORD_RETRY_LAST_MS = 5000, /* … up to this */
};

struct answering;
struct call_batch;
struct claim;
struct facts;
struct flood_guard;
struct idempotency;
struct lease;
struct publication;
struct attempt_log;
struct removing;
struct returning;
struct queue;
struct tracing;

enum publish_what { PUBLISH_ANSWER, PUBLISH_LETTER, PUBLISH_ORIGIN, PUBLISH_WHATS }; /* publish.h */
enum spill_stage { SPILL_NONE, SPILL_WAITS, SPILL_CHOSEN, SPILL_SYNCED }; /* spilling.h */

/* One message in the engine. */
struct attempt {
    enum attempt_state state; /* attempt.h */
    enum attempt_purpose purpose;
    struct engine_post post; /* posted by the handler's done, an edit's and a sink's */
    struct list link;        /* in queue->attempts, from hand-over until it is settled … */
    struct map_node by_id;   /* … and in queue->by_id, under the id that it came with */
    struct list recording;   /* in a batch's attempts, or in engine->unrecorded */
    struct queue *queue;
    struct message *held;
    struct call call;
    struct call_batch *batch; /* the hand-over of several messages that it is in; NULL: none */
    struct list batching;     /* in queue->batching, or in its batch's list */
    struct outcome outcome;   /* texts in held->arena */
    struct instant started;
    struct wall first_failure_at; /* before this attempt … */
    struct wall last_failure_at;  /* … and this as well */
    uint32_t handler;             /* index of the handler that has it */
    uint64_t shared_connection;   /* the connection that was reset under it and others; 0: none */
    uint32_t slot;                /* in the attempt log */
    bool probe;
    bool alone;      /* it shares its hand-over with no other message */
    bool confirming; /* it was refused, and another message has succeeded since */
    uint64_t number; /* number of its hand-over in its queue; 0: not handed over */
    /* The queue's last hand-over when it was refused; 0: not refused. */
    uint64_t refused_after;
    bool replay;                 /* a letter that is replayed */
    const struct policy *policy; /* the policy that judges it: a reload applies to later attempts */
    struct rule_facts facts;     /* about that policy's rules */
    size_t jq_pending;
    struct answering *answering;     /* its answer is being judged; NULL: not … */
    bool judges_answer;              /* … and it will be judged once the call is over */
    bool notes_answer;               /* its answer is needed once the call is over */
    struct jq_job *edit;             /* its body is being edited; NULL: it is not */
    struct publication *publication; /* an item of it on its way to a sink; NULL: none */
    struct engine_request *report;   /* it came as a report; answered when settled */
    struct lease *lease;             /* a worker has it, or had it; NULL: none */
    bool counted_before; /* late answer to a lease whose expiry was counted as this attempt */
    bool probed_before;  /* the same, if its expiry was an uncounted failure */
    bool skipped; /* a late letter, or one that came back: another operation changed it first */
    struct claim *claim;             /* its idempotency key, while it holds it; NULL: none */
    const struct traceparent *trace; /* for log lines; NULL: the trace that it came with */
    struct tracing *tracing;         /* in held->arena; NULL: not traced, or not yet */

    struct removing *removing;      /* a person removes it (removal.h); NULL: no … */
    struct engine_removal *removal; /* … and the result goes here */
    const struct store_keep *audit; /* for the same commit; NULL: none */

    /* The decision, for the commit and the steps after it. */
    enum store_op_kind op;
    struct store_keep result;   /* its answer, for the same commit; no name: none is kept */
    struct store_keep key_done; /* its idempotency key as succeeded; no name: none */
    uint64_t stored_as;         /* the seq that the store assigned; 0: none, or it had one */
    enum spill_stage spill;
    bool duplicate;                /* a report, or a broker's message, whose id is already held */
    bool has_body;                 /* counted in queue->bodies */
    bool too_large;                /* its commit did not fit: it gets a commit of its own */
    struct returning *returning;   /* a letter that came back from its origin; NULL: it is not */
    const struct envelope *before; /* of a compensation: the letter before it, to restore */
};

struct queue {
    struct engine *engine;
    struct map_node by_name;
    struct bytes name;
    uint32_t number; /* number in the store */
    struct engine_rules rules;
    struct facts *facts;
    struct broker *broker;
    struct bytes group;
    const struct engine_handler *handlers;
    size_t handler_count;
    struct versions versions; /* of its consumers */
    struct engine_reply lease_reply;
    const struct engine_handler *compensate;
    const struct engine_mirror *mirrors;
    size_t mirror_count;
    bool in_process; /* one of its handlers runs inside our own process */
    bool fenced;     /* another node owns it: nothing of it is received or recorded here */
    bool foreign;    /* in no configuration: it only sends its letters to their origin */
    struct idempotency *idempotency;

    enum queue_state state;
    char why[256];
    struct list facts_changed; /* in engine->facts: changed facts are not yet in a commit */
    uint32_t peak_saved;       /* the budget's peak as last written … */
    struct mono peak_at;       /* … and when */
    /* Messages that wait for room in a DLQ, at the last check (room.h). */
    uint64_t awaiting_room;
    struct breaker breaker;
    struct connection_log *connections; /* of recent successes, one for each handler */
    char order_trouble[256];   /* why the letter that closes a key cannot be read; or empty */
    struct flood_guard *flood; /* NULL: nothing was counted */
    char breaker_why[ENGINE_BREAKER_WHY_SIZE]; /* the failure that last opened it */
    struct mono succeeded_at; /* when one of its messages last succeeded; 0: not since the start */
    struct budget budget;
    struct second_opinion opinion;
    struct refused *refused; /* messages that were refused and wait, oldest first (refusal.h) … */
    size_t refused_count, refused_cap;
    struct attempt *asked;      /* handed over for a check, or once more; NULL: none */
    uint64_t begun;             /* number of the last hand-over */
    struct mono idle_since;     /* when a hand-over last ended, or the queue was resumed */
    char refused_why[256];      /* the reason for the halt after its check */
    struct bytes refused_key;   /* order key of the checked message, in … */
    char refused_key_text[256]; /* … this buffer; ptr NULL: no key, or too long */
    struct mono retry_hold;     /* over budget: no retry before this */
    struct mono origin_hold;    /* letters that their origin did not take wait until this … */
    int64_t origin_hold_ms;     /* … backoff; 0: the origin takes them */

    struct list polls; /* workers' requests that wait for messages, oldest first … */
    uint32_t wanted;   /* … how many messages they want … */
    uint32_t waiting;  /* … and the number of the requests */
    uint64_t expired;  /* leases that ran out */

    uint64_t same_ids; /* messages received with an id that another message has */

    struct wall stops[QUEUE_STOPS_MAX]; /* graceful stops, oldest first (stops.h) … */
    uint32_t stop_count;                /* … and how many are remembered */

    struct list attempts;
    struct map by_id;     /* of attempts */
    struct list batching; /* attempts that wait for this turn's batches … */
    struct list batches;  /* … and the batches that were handed over */
    uint32_t running;     /* handed over and not yet judged: each has a slot of the concurrency */
    uint32_t settling;    /* attempts that wait for their commit */
    uint32_t postponed;   /* of those, the ones whose commit failed … */
    char postponed_why[ENGINE_WHY_SIZE]; /* … and the last reason */
    uint32_t replays;                    /* attempts of letters, until they are settled … */
    uint32_t going;                      /* … of those, the ones in flight to their origin */
    uint32_t arriving; /* attempts on their way into the store before they are handed over */
    uint32_t bodies;   /* attempts whose body is in memory; see body_room.h: */
    struct list in_room_line;
    bool room_turn, room_refused;
    bool wants; /* whether the broker was last set to fetch */
    struct heap_node timer;
    struct list visiting; /* in engine->visiting: look at it this turn */
    struct list woken;    /* in engine->woken: the store has new messages (under wake_mutex) */
    struct list serving;  /* foreign: in engine->served */
    struct list rousing;  /* in engine->rousing: calls were started this turn */

    bool publish_trouble[PUBLISH_WHATS]; /* the last item was not taken by its sink */
    /* Why the last item that waits for its sink was not taken. */
    struct err publish_err;
    struct err unmirrored; /* why the last letter will never be in its mirror; or none */
    uint64_t results[RESULT_COUNT];
    uint64_t retries, fallbacks, jq_errors;
    struct rate in, ok, failed; /* arrivals and attempts */
    uint64_t seconds_buckets[ENGINE_SECONDS_BUCKETS + 1];
    double seconds_sum;
};

/* The decisions of one turn on their way to the store. */
struct commit {
    struct engine_post post;
    struct list link;          /* in engine->commits until its answer was read */
    struct store_commit store; /* its ops are the commit's own */
    size_t ops_cap;
    struct attempt *alone; /* the one attempt of the commit, whose op is the last; NULL: many */
    struct list attempts;
    struct list answers; /* struct answer: requests that wait for the commit */
    struct bytes audit;  /* the name of the last audit entry in it, until it is submitted */
    bool has_facts;
    enum status status;
};

/* A request that is answered when its commit is durable. */
struct answer {
    struct list link;
    struct engine_request *request;
};

/* Limits log lines about letters, so that an incident does not flood the log. */
struct letter_lines {
    struct mono since;
    uint32_t count;  /* since then */
    uint64_t silent; /* letters without a log line */
};

struct engine {
    struct engine_options options;
    struct store *store;
    struct rng rng;
    struct instant now;   /* of this turn */
    struct instant began; /* for steady_wall */
    struct clock_jumps jumps;
    struct queue **queues;
    size_t queue_count;
    struct map by_name;
    struct list served;       /* queues in no configuration, with letters for their origin */
    struct queue **by_number; /* indexed by the store's number; guarded by wake_mutex */
    size_t by_number_count;
    struct heap timers;
    struct heap publications; /* items that a sink did not take, by the time of their retry */
    struct list visiting;
    struct list full_dlqs; /* struct full_dlq (room.c) */
    struct list rousing;   /* queues whose handlers are to be woken before the turn ends */
    struct pool *attempts; /* the pool of attempts */
    struct attempt_log *attempt_log;
    struct map leases;           /* by message */
    struct heap lease_deadlines; /* of live leases */
    struct heap poll_deadlines;  /* of waiting requests */
    struct attempt *suspect;     /* the suspect that runs alone; NULL: none */
    struct list parked;          /* suspects that wait for their turn */

    uint64_t settling;      /* attempts of all queues that wait for their commit */
    struct list room_line;  /* queues that wait for room for bodies (body_room.h) */
    struct list deciding;   /* decided attempts that are not in a commit yet */
    struct list answers;    /* requests to answer with this turn's commit */
    struct list facts;      /* queues whose facts go into this turn's commit */
    struct list unrecorded; /* attempts whose commit failed */
    bool facts_lost;        /* facts of queues were in a commit that failed */
    struct mono commit_again;
    int64_t record_retry_ms;
    struct list commits; /* in progress */

    bool stopping;  /* nothing more is handed over */
    bool leaving;   /* … and no more requests will come */
    bool cancelled; /* the drain is over: attempts in flight have been interrupted */
    int64_t drain_ms;
    struct mono drain_until;
    struct engine_post hold_post, stop_post;
    struct letter_lines letter_lines;

    /* advance_attempt: moves an attempt on when its answer is there. */
    void (*advance)(struct engine *engine, struct engine_post *post);
    pthread_mutex_t mutex; /* held during a turn */
    struct mailbox mailbox;
    pthread_mutex_t wake_mutex;
    struct list woken;
    struct list asked; /* names of queues for engine_serve, known or not (under wake_mutex) */
};

/* post.c */
struct queue *engine_queue(struct engine *engine, struct bytes name);
void engine_post(struct engine *engine, struct engine_post *post);
void engine_wake(struct queue *queue); /* from any thread: visit the queue soon */

/* queue_life.c */
/* INVALID: a rule's pattern does not compile. */
enum status queue_new(struct engine *engine, const struct engine_queue_options *options,
                      struct queue **out, struct err *err);
bool queue_rests(const struct queue *queue); /* no attempt of it will post to the engine any more */
void queue_free(struct queue *queue);

/* queue.c */
/* For a log line. */
#define QUEUE_ABOUT(queue) (&(struct log_about){.queue = (queue)->name})
void queue_visit(struct queue *queue);         /* look at the queue before this turn ends */
void queue_facts_changed(struct queue *queue); /* puts its facts into this turn's commit */

/* feed.c */
void feed_queue(struct queue *queue); /* receives and hands over the messages that may go now */
/* True when a worker or a slot of the concurrency is free. */
bool feed_has_slot(const struct queue *queue);
/* Hands over a taken message by itself, as queue->asked. False: it waits again, or needs no
 * hand-over. */
bool feed_alone(struct queue *queue, struct message *held_take, bool confirming);
void feed_probes(struct queue *queue); /* while the breaker is not closed */
struct mono feed_next_wake(struct queue *queue);

/* queue_state.c */
/* Without a reason, a queue that is paused or halted already keeps the one it has. */
void queue_pause(struct queue *queue, struct bytes why);
void queue_halt(struct queue *queue, const char *why);
void queue_set_state(struct queue *queue, enum queue_state state, struct bytes why);

/* queue.c */
const struct engine_dlq *queue_dlq(const struct queue *queue, struct bytes name);
bool queue_leases(const struct queue *queue); /* workers fetch its messages */
/* The message was taken and is not handed over after all. */
void queue_give_back(struct queue *queue, struct message *held_take, struct mono due);

/* attempt.c */
struct attempt *attempt_new(struct queue *queue, struct message *held_take);
void attempt_hand_over(struct attempt *attempt, bool probe);
void attempt_call(struct attempt *attempt); /* goes to the next handler, within the same attempt */
void attempt_ended(struct attempt *attempt, const struct outcome *outcome); /* copies it */
void attempt_start(struct attempt *attempt); /* starts the call that is filled in */
void attempt_rouse(struct engine *engine);   /* wakes the handlers that got calls */
void attempt_free(struct attempt *attempt);

/* attempt_state.c */
/* The handler that has it. */
const struct engine_handler *attempt_handler(const struct attempt *attempt);
bool attempt_is_arriving(const struct attempt *attempt); /* counted in queue->arriving */
bool attempt_compensates(const struct attempt *attempt);
const struct engine_reply *attempt_reply(const struct attempt *attempt);
/* The answer is to be kept or published. */
bool attempt_wants_answer(const struct attempt *attempt);
/* For a log line; borrows from the attempt. */
struct log_about attempt_about(const struct attempt *attempt);

/* advance.c */
void advance_attempt(struct engine *engine, struct engine_post *post);

/* evaluate_rules.c */
/* Gathers the facts, which may wait for jq; then judges. */
void evaluate_rules(struct attempt *attempt);

/* judge.c */
void judge_decide(struct attempt *attempt); /* when all facts are there */
/* Ends the message without an attempt: it needs none any more, or becomes a letter. */
void judge_end(struct attempt *attempt, enum resolution resolution);
/* Passes every decision to the features, attempted or not. */
void judge_result(struct attempt *attempt, enum attempt_result result);
/* "auth: message a: HTTP 401 no": the reason of a queue that the attempt halts. */
void judge_why(const struct attempt *attempt, const struct decision *decision, struct buf *out);
void judge_bury(struct attempt *attempt, struct bytes dlq, enum cause cause, enum state state);

/* commit.c */
/* The attempt joins this turn's commit, after its publication if its DLQ has a mirror; an attempt
 * with nothing to record is settled at once. It may be freed afterwards. */
void commit_decided(struct attempt *attempt);
void commit_join(struct attempt *attempt); /* after its publication */
/* The attempt cannot be recorded before a restart: a report is refused, any other message stays as
 * it was. */
void commit_abandon(struct attempt *attempt, const struct err *err);
void commit_answer(struct engine *engine, struct engine_request *request);
void commit_turn(struct engine *engine);
void commit_again(struct engine *engine);       /* submits failed commits again when they are due */
bool commit_waits(const struct engine *engine); /* something must be submitted again */
void commit_drop(struct engine *engine);        /* frees commits whose answer will never be read */

/* control.c */
void control_open(struct engine *engine, struct engine_post *post);

/* notice.c */
void notice_letter(const struct attempt *attempt);
void notice_queue(const struct queue *queue);
void notice_breaker(const struct queue *queue);

#endif
