/* world: engine and store on a simulated clock, disk and handlers, all chance from one seed.
 *
 * A world lives through many lives of the server: a crash forgets everything but the disk, and the
 * next life opens what the disk kept. What the outside knows (which pushes were acknowledged, which
 * messages a handler answered well) outlives every crash: that is what the promises are about. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/arena.h"
#include "base/containers/list.h"
#include "base/rng.h"
#include "core/note_space.h"
#include "engine/engine.h"
#include "port/disk.h"
#include "port/letters.h"

enum {
    WORLD_QUEUES = 8,
    WORLD_KEEPING_QUEUE = 0, /* its answers are kept in the store */
    WORLD_BATCH_QUEUE = 1,   /* its handler takes up to WORLD_BATCH messages at once */
    WORLD_BATCH = 3,
    WORLD_CALLBACK_QUEUE = 2, /* its handler runs inside the server: what kills it kills both */
    WORLD_LEASE_QUEUE = 3,    /* workers come and fetch */
    SIM_WORKERS = 3,
    SIM_WORKER_AT_ONCE = 3,
    SIM_LEASES_MAX = 1024,
    SIM_LEASE_MS = 2000,
    WORLD_ORDERED_QUEUE = 4, /* order: key */
    WORLD_ONCE_QUEUE = 5,    /* idempotency */
    WORLD_SINK_QUEUE = 6,    /* its answers are published */
    WORLD_SERVER_QUEUE = 7,  /* its messages come from a broker's server */
    WORLD_KEYS = 4,          /* of either */
    WORLD_BLOCKED_LIMIT = 3,
    WORLD_MESSAGES_MAX = 4096,
    WORLD_CALLS_MAX = 128,
    WORLD_CONCURRENCY = 4,
    WORLD_STARTS_MAX = 4096,
    WORLD_CAP = 100000,
    WORLD_CAP_SMALL = 2,
    WORLD_ENDED_MAX = 256, /* hand-overs of a queue that are remembered */
};

/* What a handler will make of a message. */
enum script {
    SCRIPT_GOOD,
    SCRIPT_FLAKY,      /* 503 for its first calls, then ok */
    SCRIPT_SLOW,       /* ok, after many seconds */
    SCRIPT_VALIDATION, /* 400: dead at once */
    SCRIPT_BUG,        /* a status that no rule knows: dead at once, unclassified */
    SCRIPT_POISON,     /* 503 for ever */
    SCRIPT_CRASHER,    /* the connection is reset, for ever */
    SCRIPT_DISCARD,    /* the handler says discard */
    SCRIPT_KILLER,     /* in the callback queue: the process dies of it, for ever */
    SCRIPT_REFUSED,    /* 403, for ever */
    SCRIPT_COUNT
};

/* What everybody outside the server knows of one message. */
struct sim_message {
    char id[16];
    size_t queue;
    enum script script;
    uint32_t key; /* order or idempotency, in the queues that have it; 0: none */
    bool decided; /* people have resolved it, or were about to when the machine died */
    uint32_t flaky_calls;
    uint32_t submissions;    /* pushes that were sent */
    bool acknowledged;       /* … and one was answered with OK */
    bool rejected;           /* … or the only one with trouble, so that it must not exist */
    uint64_t rejected_after; /* how many commits had succeeded then */
    uint32_t calls, succeeded;
    uint32_t replay;                           /* as its last call said */
    uint32_t succeeded_replay, succeeded_life; /* in which replay of it, and in which life, last */
    uint32_t open_calls;                       /* in this life */
    uint32_t attempts_seen;                    /* the highest attempt number a handler saw */
    bool spared; /* its last call met the outage while the breaker was not closed, with evidence of
                    an outage, and nothing has succeeded since its failure before */
    uint64_t failed_after; /* 1 + how many of its queue had succeeded when it last failed … */
    uint32_t failed_life;  /* … and in which life */
    uint32_t doubted;      /* failures in this round without evidence of an outage */
    struct mono tried_at;  /* when it was last handed over in this life; 0: not yet */
    uint32_t passed_over;  /* probes of others that had been tried before, while it was due */
    bool met_outage;
    uint32_t refusals;      /* calls that ended in 401 or 403 */
    bool refused_last;      /* … and so did its last one */
    uint64_t refused_after; /* how many hand-overs had begun when that was known */
    bool proven;     /* when its last call began, another had succeeded since its last refusal */
    bool condemned;  /* it was refused once more after that */
    bool locked_out; /* one of its calls met the outage of the credentials */
    struct mono acknowledged_at;
    bool removal_asked; /* people wanted to bury or discard it … */
    bool removed;       /* … and were told that it is done */
    bool published;     /* the sink has its answer */
    bool split;       /* its last call failed beside others: it may come again within the attempt */
    uint32_t silent;  /* leases of it that may have ended without an answer */
    bool held;        /* by the store, as last looked; or … */
    bool unreadable;  /* … it could not be looked at */
    enum state state; /* … in this state */
    enum cause cause;
};

struct sim_call {
    struct call *call;
    struct call_group *group; /* that it is in; NULL: none. All of one end together */
    struct sim_message *message;
    struct mono ends;
    uint64_t began; /* its number */
    bool cancelled;
};

struct sim_item {
    struct sink_item *item;
    struct mono ends;
};

/* A hand-over, for the retry budget: a plain list, recounted each time. */
struct start {
    int64_t at_ms;
    bool retry;
};

/* A hand-over that ended, in the order in which the engine is told. */
struct ended {
    const struct sim_message *message;
    uint64_t began; /* its number among all hand-overs */
    uint64_t known; /* how many had begun when the engine knew */
    struct mono at; /* when that was */
    bool succeeded, refused;
};

struct world_queue {
    struct world *world;
    struct start starts[WORLD_STARTS_MAX]; /* of this life */
    size_t start_count;
    struct handler handler; /* its vtable: sim_handler.c */
    struct policy policy;
    struct engine_dlq dlq;
    struct broker *broker;
    struct engine_handler handlers[1];
    enum breaker_state breaker; /* as the engine last announced */
    /* Of this life, as the handler saw it: */
    uint64_t successes;
    const struct sim_message *failing[BREAKER_EVIDENCE]; /* since the last success, distinct */
    size_t failing_count;
    /* refusals.c: */
    struct ended ended[WORLD_ENDED_MAX]; /* of this life, oldest first … */
    size_t ended_count;
    size_t known_count;      /* … of which the engine knows */
    uint64_t last_succeeded; /* the last-begun hand-over that succeeded, in any life */
    uint32_t refused_in_a_row;
    enum queue_state state; /* as last seen */
};

enum sabotage {
    SABOTAGE_NONE,
    SABOTAGE_EARLY_ACK,       /* done is called before the commit is durable */
    SABOTAGE_LOST_WAKE,       /* the store's word that something is ready is lost */
    SABOTAGE_FORGOTTEN_RETRY, /* a retry is forgotten instead of kept */
    SABOTAGE_DOUBLE_TAKE,     /* a message is handed out while it is still in somebody's hands */
    SABOTAGE_BLAME_ALL,       /* everybody who was inside when the process died is to blame */
    SABOTAGE_LOST_LEASE,      /* that a message is leased is not stored */
    SABOTAGE_NO_ORDER,        /* messages of one key are handed out together */
    SABOTAGE_FORGOTTEN_KEY,   /* that an idempotency key succeeded is forgotten */
    SABOTAGE_LOST_ANSWER,     /* an answer that is to be kept is not */
    SABOTAGE_FALSE_RESOLVE,   /* a letter that is to be replayed is resolved instead */
    SABOTAGE_NO_WAITING,      /* what waits for room in a full DLQ is handed out */
    SABOTAGE_NO_ROOM,         /* what waits for room in a full DLQ is never found again */
    SABOTAGE_LOST_PROBES,     /* that a probe failed is not stored */
    SABOTAGE_HASTY_DEATH,     /* what failed uncounted is a letter at once */
    SABOTAGE_ONE_PROBE,       /* the message that probed last probes again while others wait */
    SABOTAGE_HASTY_REFUSAL,   /* what was refused once is a letter at once */
    SABOTAGE_NO_OTHERS,       /* no other message is found when a refusal is checked */
    SABOTAGE_LOST_REMOVAL,    /* what people buried or discarded goes on waiting */
    SABOTAGE_COUNT
};

struct world {
    uint64_t seed;
    struct rng rng;
    struct clock clock;
    struct instant now;
    struct sim_disk *disk;
    struct sim_vfs *vfs;
    struct store *real_store; /* of this life */
    struct store *store;      /* the same, or a saboteur in front of it */
    struct engine *engine;
    enum sabotage sabotage;
    struct world_queue queues[WORLD_QUEUES];
    struct sim_message messages[WORLD_MESSAGES_MAX];
    size_t message_count;
    struct sim_call calls[WORLD_CALLS_MAX];
    size_t call_count;
    struct sink sink; /* its vtable: sim_sink.c */
    struct sim_item items[WORLD_CALLS_MAX];
    size_t item_count;
    struct fake_server *server; /* outlives every life */
    struct sim_workers *workers;
    struct sim_replays *replays;
    struct mono next_turn;
    int flights; /* the flight recorder's file, which outlives the process but no power cut */
    bool killed; /* a message has killed the process */
    bool outage;
    int outage_status; /* 503, 500, or 0: resets */
    bool outage_ever;
    bool locked_out; /* the credentials are refused: 401 for everybody */
    bool refusing;   /* many messages are refused, in every fourth world */
    uint64_t begun;  /* hand-overs, in all lives */
    uint64_t cap; /* of every DLQ; WORLD_CAP_SMALL in every third world, until all is to settle */
    bool faults;  /* may anything go wrong? */
    uint32_t lives;
    uint64_t commits_ok;  /* pushes that were answered with OK */
    uint64_t firsts_peak; /* most first attempts of any 10 s, in any life, any queue */
    struct arena pushes;  /* what was asked of the server, kept until the end */
    bool verbose;
    char key_names[WORLD_KEYS + 1][8];
    struct rule_header key_headers[WORLD_KEYS + 1];
    char broken[512]; /* the promise that was broken; empty: none */
};

struct world *world_new(uint64_t seed, enum sabotage sabotage, bool verbose);
void world_free(struct world *world);
struct bytes world_queue_name(size_t queue);
/* One thing happens. */
void world_step(struct world *world);
/* No more faults; time passes until nothing is left to do, or a promise is broken. */
void world_settle(struct world *world);

__attribute__((format(printf, 2, 3))) void world_break(struct world *world, const char *format,
                                                       ...);
__attribute__((format(printf, 2, 3))) void world_say(struct world *world, const char *format, ...);
struct sim_message *world_message(struct world *world, struct bytes id);

/* sim_handler.c */
extern const struct handler_vtable sim_handler_vtable, sim_handler_inside_vtable;
void sim_handler_complete(struct world *world, size_t call_index);
void sim_handler_drop_all(struct world *world);
struct outcome sim_handler_script(const struct sim_message *message); /* what it comes to */
struct outcome sim_handler_locked_out(void);

/* sim_sink.c: it lives in the world too. */
extern const struct sink_vtable sim_sink_vtable;
void sim_sink_work(struct world *world);
struct mono sim_sink_next(const struct world *world);
void sim_sink_drop_all(struct world *world);

/* sim_worker.c: they live in the world, not in the server. */
struct sim_workers *sim_worker_new(struct world *world);
void sim_worker_work(struct world *world); /* what is due is done, and more asked for */
struct mono sim_worker_next(const struct world *world);
bool sim_worker_wants(struct world *world); /* there is something to fetch */
void sim_worker_cut_off(struct world *world);

/* sim_replay.c: replays of the first queue's letters. */
void sim_replay_open(
    struct world *world); /* a life begins: the engine is there, no turn was made */
void sim_replay_close(struct world *world);
void sim_replay_free(struct world *world);
void sim_replay_heard(struct world *world, const struct envelope *letter);
void sim_replay_start(struct world *world); /* somebody orders one */
void sim_replay_step(struct world *world);
struct mono sim_replay_next(const struct world *world);
bool sim_replay_has_mail(const struct world *world);
bool sim_replay_is_over(const struct world *world); /* all of them */

/* promises.c: DESIGN §1, as far as a simulation can see them. Sets world->broken. */
void promises_check(struct world *world);         /* one message, any one: after each step */
void promises_check_all(struct world *world);     /* after each crash */
void promises_check_healthy(struct world *world); /* while DLQs are full */
void promises_check_end(struct world *world);
void promises_look(struct world *world, struct sim_message *message); /* as the store has it now */
void promises_on_start(struct world *world, struct world_queue *queue, struct sim_message *message,
                       const struct call *call);

/* refusals.c: SEMANTICS 4.7, from outside. */
void refusals_open(struct world *world); /* a life begins */
void refusals_on_start(struct world *world, struct sim_message *message);
void refusals_on_end(struct world *world, struct sim_message *message, uint64_t began,
                     const struct outcome *outcome);
void refusals_before_turn(struct world *world); /* the engine is about to know what ended */
void refusals_after_turn(struct world *world);  /* it may have halted a queue */
bool refusals_is_refused(const struct outcome *outcome);
void refusals_check_death(struct world *world, const struct sim_message *message);

/* producers.c */
void producers_push(struct world *world, size_t queue, enum script script);
void producers_push_new(struct world *world);   /* any kind, to any queue */
void producers_push_again(struct world *world); /* what was not answered */
/* Healthy ones, where the breaker takes what fails for an outage. */
void producers_go_on(struct world *world);

/* people.c */
void people_decide(struct world *world);      /* about one letter, if that one waits for them */
bool people_resolve_all(struct world *world); /* false: no letter of the ordered queue waits */
bool people_resume_all(struct world *world);  /* false: no queue is halted */

/* sabotage.c: a store in front of the real one that breaks a promise on purpose. */
struct store *sabotage_new(struct store *real, enum sabotage how);
void sabotage_free(struct store *store);
const char *sabotage_text(enum sabotage how);
/* In the flight recorder's file, everybody who ran is said to have run alone. */
void sabotage_blame_all(char *slots, size_t size);

#endif
