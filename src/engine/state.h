/* state: what the engine's files share and nobody else sees.
 *
 *   mailbox ──▶ attempt (one message in the engine's hands) ──▶ batch (one commit) ──▶ settled
 *
 * An attempt is made when a message is received and freed when what became of it is durable. All of
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
#include "engine/attempt.h"
#include "engine/clock_jumps.h"
#include "engine/rate.h"
#include "port/letters.h"

enum {
    QUEUE_SETTLING_MAX = 1024,   /* attempts of one queue that wait for their commit */
    QUEUE_STOPS_MAX = 32,        /* graceful stops that are remembered (stops.h) */
    QUEUE_FULL_POLL_MS = 1000,   /* how often a full DLQ is looked at again */
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

/* One message in the engine's hands. */
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
    struct call_batch *batch; /* the hand-over of several that it is in; NULL: none */
    struct list batching;     /* in queue->batching, or among its batch's */
    struct outcome outcome;   /* texts in held->arena */
    struct instant started;
    struct wall first_failure_at; /* as it was before this attempt … */
    struct wall last_failure_at;  /* … and so was this */
    uint32_t handler;             /* which of the queue's handlers has it */
    uint64_t shared_connection;   /* that was reset under it and others; 0: none */
    uint32_t slot;                /* in the attempt log */
    bool probe;
    bool alone;                  /* in its hand-over: it shares neither a batch nor an answer */
    bool confirming;             /* it was refused, and another message has succeeded since */
    uint64_t number;             /* of its hand-over, in its queue; 0: it was not handed over */
    uint64_t refused_after;      /* the queue's last hand-over when it was refused; 0: it was not */
    bool replay;                 /* a letter, sent round again */
    const struct policy *policy; /* that judges it: a reload meanwhile is for the next one */
    struct rule_facts facts;     /* about that policy's rules */
    size_t jq_pending;
    struct answering *answering;     /* its answer is being judged; NULL: it is not … */
    bool judges_answer;              /* … and is judged at all, once the call is over */
    bool notes_answer;               /* its answer is needed once the call is over */
    struct jq_job *edit;             /* its body is being edited; NULL: it is not */
    struct publication *publication; /* something of it is on its way to a sink; NULL: nothing */
    struct engine_request *report;   /* it came as a report; answered when settled */
    struct lease *lease;             /* a worker has it, or had it; NULL: none */
    bool counted_before; /* the late answer to a lease whose expiry was counted as this attempt */
    bool probed_before;  /* the same, where its expiry was an uncounted failure */
    bool skipped; /* of a late letter or one that came back: somebody else changed it first */
    struct claim *claim;             /* its idempotency key, while it has it; NULL: none */
    const struct traceparent *trace; /* that lines of the log name; NULL: what it came with */
    struct tracing *tracing; /* in held->arena; NULL: nobody traces it, or nothing was told yet */

    struct removing *removing;      /* a person removes it (removal.h); NULL: nobody … */
    struct engine_removal *removal; /* … and is answered here */
    const struct store_keep *audit; /* for the same commit; NULL: none */

    /* What was decided, for the commit and for what follows it. */
    enum store_op_kind op;
    struct store_keep result;   /* its answer, for the same commit; no name: none is kept */
    struct store_keep key_done; /* that its idempotency key succeeded; the same */
    uint64_t stored_as;         /* the seq that the store gave it; 0: none, or it had one */
    enum spill_stage spill;
    bool duplicate; /* a report, or a broker's message, whose id is held already */
    bool has_body;  /* counted in queue->bodies */
    bool too_large; /* the commit that it was in did not fit: the next is its own */
    struct returning
        *returning; /* it is a letter that came back from its origin; NULL: it is not */
    const struct envelope *before; /* of a compensation: the letter, to which it may go back */
};

struct queue {
    struct engine *engine;
    struct map_node by_name;
    struct bytes name;
    uint32_t number; /* the store's */
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
    bool in_process; /* one of them runs inside our own process */
    bool fenced;     /* another node owns it: nothing of it is received or recorded here */
    bool foreign;    /* in no configuration: its letters go to their origin, and that is all */
    struct idempotency *idempotency;

    enum queue_state state;
    char why[256];
    struct list facts_changed; /* in engine->facts: what outlives us is not yet in a commit */
    uint32_t peak_saved;       /* the budget's peak as last written … */
    struct mono peak_at;       /* … and when */
    uint64_t awaiting_room;    /* messages that wait for room in a DLQ, as last seen (room.h) */
    struct breaker breaker;
    struct connection_log *connections; /* of recent successes, one for each handler */
    char order_trouble[256];   /* why the letter that closes a key cannot be read; or empty */
    struct flood_guard *flood; /* NULL: nothing was counted */
    char breaker_why[ENGINE_BREAKER_WHY_SIZE]; /* the failure that last opened it */
    struct mono succeeded_at; /* when one of its messages last succeeded; 0: not in this life */
    struct budget budget;
    struct second_opinion opinion;
    /* See refusal.h. */
    struct refused *refused; /* messages that were refused and wait, oldest first … */
    size_t refused_count, refused_cap;
    struct attempt *asked;      /* handed over for a check, or once more; NULL: none */
    uint64_t begun;             /* hand-overs: the number of the last */
    struct mono idle_since;     /* when a hand-over last ended, or the queue was resumed */
    char refused_why[256];      /* what the queue halts with after its check */
    struct bytes refused_key;   /* of the message that is checked; ptr NULL: none … */
    char refused_key_text[256]; /* … or a longer one */
    struct mono retry_hold;     /* over budget: no retry before this */
    struct mono origin_hold;    /* letters that their origin did not take wait until this … */
    int64_t origin_hold_ms;     /* … which was so long; 0: it takes them */

    struct list polls; /* workers' requests that wait for messages, oldest first … */
    uint32_t wanted;   /* … how many they want … */
    uint32_t waiting;  /* … and how many they are */
    uint64_t expired;  /* leases that ran out */

    uint64_t same_ids; /* messages of the source that came with an id which another one has */

    struct wall stops[QUEUE_STOPS_MAX]; /* graceful stops, oldest first (stops.h) … */
    uint32_t stop_count;                /* … and how many are remembered */

    struct list attempts;
    struct map by_id;     /* of attempts */
    struct list batching; /* attempts that wait for this turn's batches … */
    struct list batches;  /* … and the batches that were handed over */
    uint32_t running;     /* handed over and not yet judged: each has a slot of the concurrency */
    uint32_t settling;    /* attempts that wait for their commit */
    uint32_t postponed;   /* of those, the ones that a commit failed for … */
    char postponed_why[ENGINE_WHY_SIZE]; /* … and the last why */
    uint32_t replays;                    /* attempts of letters, until they are settled … */
    uint32_t going;                      /* … of those, the ones on their way to their origin */
    uint32_t arriving; /* attempts on their way into the store before they are handed over */
    uint32_t bodies;   /* attempts whose body is in memory; see body_room.h: */
    struct list in_room_line;
    bool room_turn, room_refused;
    bool wants; /* what its broker was told last */
    struct heap_node timer;
    struct list visiting; /* in engine->visiting: look at it this turn */
    struct list woken;    /* in engine->woken: the store said so (under wake_mutex) */
    struct list serving;  /* foreign: in engine->served */
    struct list rousing;  /* in engine->rousing: calls were started this turn */

    bool publish_trouble[PUBLISH_WHATS]; /* the last one was not taken by its sink */
    struct err publish_err;              /* why the last one that waits for its sink was not */
    struct err
        unmirrored; /* why the last letter is not in its mirror, and never will be; or none */
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
    struct list answers; /* struct answer: requests that wait for it */
    struct bytes audit;  /* the name of the last audit entry in it, until it is submitted */
    bool has_facts;
    enum status status;
};

/* A request that is answered when the batch it is in is durable. */
struct answer {
    struct list link;
    struct engine_request *request;
};

/* Lines of the log about letters: an incident must not drown it. */
struct letter_lines {
    struct mono since;
    uint32_t count;  /* since then */
    uint64_t silent; /* letters that no line told of */
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
    struct list served;       /* queues that are not ours, with letters for their origin */
    struct queue **by_number; /* indexed by the store's number; guarded by wake_mutex */
    size_t by_number_count;
    struct heap timers;
    struct heap publications; /* what a sink did not take, by when it is asked again */
    struct list visiting;
    struct list full_dlqs; /* struct full_dlq (room.c) */
    struct list rousing;   /* queues whose handlers are to be woken before the turn ends */
    struct pool *attempts; /* what they are made from */
    struct attempt_log *attempt_log;
    struct map leases;           /* by message */
    struct heap lease_deadlines; /* of those alive */
    struct heap poll_deadlines;  /* of requests that wait */
    struct attempt *suspect;     /* the one whose turn it is; NULL: none runs */
    struct list parked;          /* suspects that wait for their turn */

    uint64_t settling;      /* attempts of all queues that wait for their commit */
    struct list room_line;  /* queues that wait for room for bodies (body_room.h) */
    struct list deciding;   /* attempts decided and not in a commit yet */
    struct list answers;    /* requests to answer with this turn's commit */
    struct list facts;      /* queues whose facts go into it */
    struct list unrecorded; /* attempts whose commit failed */
    bool facts_lost;        /* queues' facts were in a commit that failed */
    struct mono commit_again;
    int64_t record_retry_ms;
    struct list commits; /* under way */

    bool stopping;  /* nothing more is handed over */
    bool leaving;   /* … and nobody asks for anything more */
    bool cancelled; /* the drain is over: what was under way has been interrupted */
    int64_t drain_ms;
    struct mono drain_until;
    struct engine_post hold_post, stop_post;
    struct letter_lines letter_lines;

    /* Moves an attempt on whose answer is there: advance_attempt. */
    void (*advance)(struct engine *engine, struct engine_post *post);
    pthread_mutex_t mutex; /* held during a turn */
    struct mailbox mailbox;
    pthread_mutex_t wake_mutex;
    struct list woken;
    struct list asked; /* names of queues to be served, known or not (under wake_mutex) */
};

/* post.c */
struct queue *engine_queue(struct engine *engine, struct bytes name);
void engine_post(struct engine *engine, struct engine_post *post);
void engine_wake(struct queue *queue); /* from any thread: look at it soon */

/* queue_life.c */
/* INVALID: a rule's pattern does not compile. */
enum status queue_new(struct engine *engine, const struct engine_queue_options *options,
                      struct queue **out, struct err *err);
bool queue_rests(const struct queue *queue); /* no attempt of it will post to us any more */
void queue_free(struct queue *queue);

/* queue.c */
/* For a line of the log. */
#define QUEUE_ABOUT(queue) (&(struct log_about){.queue = (queue)->name})
void queue_visit(struct queue *queue);         /* look at it before this turn ends */
void queue_facts_changed(struct queue *queue); /* what outlives a restart goes into this commit */

/* feed.c */
void feed_queue(struct queue *queue); /* receive and hand over what may go now */
/* True when a worker or a slot of the concurrency is free. */
bool feed_has_slot(const struct queue *queue);
/* Hands a taken message over by itself, as queue->asked. False: it waits again, or needs no
 * hand-over. */
bool feed_alone(struct queue *queue, struct message *held_take, bool confirming);
void feed_probes(struct queue *queue); /* while the breaker is not closed */
struct mono feed_next_wake(struct queue *queue);

/* queue_state.c */
/* Without a why, a queue that stands still already keeps the one it has. */
void queue_pause(struct queue *queue, struct bytes why);
void queue_halt(struct queue *queue, const char *why);
void queue_set_state(struct queue *queue, enum queue_state state, struct bytes why);

/* queue.c */
const struct engine_dlq *queue_dlq(const struct queue *queue, struct bytes name);
bool queue_leases(const struct queue *queue); /* workers come and fetch */
/* It was taken and is not handed over after all. */
void queue_give_back(struct queue *queue, struct message *held_take, struct mono due);

/* attempt.c */
struct attempt *attempt_new(struct queue *queue, struct message *held_take);
void attempt_hand_over(struct attempt *attempt, bool probe);
void attempt_call(
    struct attempt *attempt); /* the next handler in the list, within the same attempt */
void attempt_ended(struct attempt *attempt, const struct outcome *outcome); /* copies it */
void attempt_start(struct attempt *attempt); /* the call as it is filled in */
void attempt_rouse(struct engine *engine);   /* wakes the handlers that calls were started at */
void attempt_free(struct attempt *attempt);

/* attempt_state.c */
const struct engine_handler *attempt_handler(const struct attempt *attempt); /* who has it */
bool attempt_is_arriving(const struct attempt *attempt); /* counted in queue->arriving */
bool attempt_compensates(const struct attempt *attempt);
const struct engine_reply *attempt_reply(const struct attempt *attempt);
bool attempt_wants_answer(const struct attempt *attempt); /* to keep it, or for a sink */
/* For a line of the log; borrows from the attempt. */
struct log_about attempt_about(const struct attempt *attempt);

/* advance.c */
void advance_attempt(struct engine *engine, struct engine_post *post);

/* evaluate_rules.c */
/* Gathers the facts, which may take a while; then judges. */
void evaluate_rules(struct attempt *attempt);

/* judge.c */
void judge_decide(struct attempt *attempt); /* once all facts are there */
/* Without an attempt: it needs none any more, or becomes a letter. */
void judge_end(struct attempt *attempt, enum resolution resolution);
/* What was decided, attempted or not, is told to the features. */
void judge_result(struct attempt *attempt, enum attempt_result result);
/* "auth: message a: HTTP 401 no": what a queue that it halts says. */
void judge_why(const struct attempt *attempt, const struct decision *decision, struct buf *out);
void judge_bury(struct attempt *attempt, struct bytes dlq, enum cause cause, enum state state);

/* commit.c */
/* Published first where its DLQ has a mirror, it joins this turn's commit; what leaves nothing to
 * record is settled at once. The attempt may be gone afterwards. */
void commit_decided(struct attempt *attempt);
void commit_join(struct attempt *attempt); /* it was published */
/* In this life it cannot be recorded: a report is refused, anything else is as it was before. */
void commit_abandon(struct attempt *attempt, const struct err *err);
void commit_answer(struct engine *engine, struct engine_request *request);
void commit_turn(struct engine *engine);
void commit_again(struct engine *engine);       /* what failed before, when its time has come */
bool commit_waits(const struct engine *engine); /* something is to be submitted again */
void commit_drop(struct engine *engine); /* forgets commits whose answer will never be read */

/* control.c */
void control_open(struct engine *engine, struct engine_post *post);

/* notice.c */
void notice_letter(const struct attempt *attempt);
void notice_queue(const struct queue *queue);
void notice_breaker(const struct queue *queue);

#endif
