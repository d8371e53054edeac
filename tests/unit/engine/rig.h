/* rig: an engine on a bench. Its store is in memory, its clock is stepped by hand, its handlers, jq
 * and archive do as the test says; nothing happens but in rig_turn. What the engine does to the
 * world around it is written to `log` in the order in which it does it. */
#ifndef RIG_H
#define RIG_H

#include "test.h"

#include "engine/state.h"
#include "port/letters.h"

enum {
    RIG_HANDLERS = 3,
    RIG_CALLS_MAX = 8192,
    RIG_IDS_MAX = 8192,
    RIG_ID_SIZE = 24,
    RIG_JOBS_MAX = 16,
    RIG_REQUESTS_MAX = 64,
    RIG_TURNS_MAX = 100, /* an engine that wants more at one moment spins */
    RIG_LOG_MAX = 1 << 20,
    RIG_GROUPS_OPEN_MAX = 64,
};

struct rig;

/* One hand-over, kept after its end. */
struct rig_call {
    struct call *call; /* NULL: answered */
    char id[RIG_ID_SIZE];
    uint32_t attempt, fallback;
    struct mono at;
    bool cancelled;
};

struct rig_handler {
    struct handler handler;
    struct rig *rig;
};

/* The built-in broker, or a server's, counting what is asked of it. */
struct rig_broker {
    struct broker broker;
    struct broker *inner;
    struct rig *rig;
    size_t asked; /* for messages, or for the time of the next */
};

struct rig_options {
    size_t queues;   /* 0: one. They are "q", "q1", "q2" … */
    size_t handlers; /* 0: one */
    uint32_t batch;  /* of every handler; 0: one message at a time */
    bool deferred;   /* commits wait for rig_store */
    bool spill, jq;
    bool lease; /* no handler at all: workers come and fetch */
    const char *attempt_log_path;
    bool in_process; /* the handlers run inside the engine's process */
    bool server;     /* its messages come from rig->server, not from the store */
};

struct rig_request {
    struct engine_request request;
    size_t answers;
    enum status status;
};

struct rig {
    struct rig_options options;
    struct clock clock;
    struct instant now;
    void (*tick)(struct rig *rig); /* called whenever the clock is read; may be NULL */
    struct store *store;
    struct store_vtable store_vtable;     /* the store's own, but submit is logged */
    struct letters_vtable letters_vtable; /* the store's own, for a test to change */
    void (*submit)(struct store *store, struct store_commit *commit);
    struct engine *engine;
    struct mono next; /* what the last turn returned */

    struct policy policy;      /* of all queues; change it before rig_open */
    struct engine_dlq dlqs[2]; /* "q.dlq", and "q.bad" for routes */
    uint32_t concurrency;
    struct engine_rules rules; /* of all queues: order and idempotency; the rest is from above */
    struct rig_handler handlers[RIG_HANDLERS];
    struct engine_handler handler_list[RIG_HANDLERS];
    struct engine_mirror mirrors[2]; /* of all queues */
    size_t mirror_count;
    struct sink *origin; /* of all letters; NULL: nothing leads there */
    struct rig_broker *brokers;
    struct fake_server *server; /* of "q"; it outlives its engines */

    struct rig_call *calls;
    size_t call_count;
    struct call_group *groups[RIG_GROUPS_OPEN_MAX]; /* rig_groups.h */
    size_t group_count, groups_started;
    char (*ids)[RIG_ID_SIZE]; /* by seq */
    struct buf log, events;
    struct message *looked_at;
    struct rig_request *requests[RIG_REQUESTS_MAX]; /* freed with the rig, and their answers too */
    size_t request_count;

    struct jq jq;
    struct jq_job *jobs[RIG_JOBS_MAX];
    size_t job_count;
    struct spans *spans;               /* rig_spans.h; NULL: nobody traces */
    const struct rule_header *headers; /* of what is pushed */
    size_t header_count;
    const char *source; /* NULL: the built-in queue */
    const char *group;  /* of all queues' sources; NULL: none */
    struct spill spill;
    size_t spill_appends_fail, spill_syncs_fail; /* the next so many */
    struct buf spilled;                          /* lines */
};

/* Defaults: concurrency 4, retries after 1 s, 2 s, 4 s … without jitter, everything else as a
 * configuration leaves it. */
struct rig *rig_new(struct rig_options options);
void rig_open(struct rig *rig);
/* A new engine on the same store; calls under way are lost with the old one. */
void rig_restart(struct rig *rig);
/* The process dies: the same, but the attempt log's file and the store are as the death found
 * them, so that what was under way waits again. */
void rig_die(struct rig *rig);
void rig_free(struct rig *rig);

/* ---- time ---- */
void rig_turn(struct rig *rig);
/* Turns until the engine wants nothing more at this moment. Fails when that never comes. */
void rig_rest(struct rig *rig);
void rig_pass(struct rig *rig, int64_t ms); /* then rests */
void rig_store(struct rig *rig); /* deferred: what was submitted becomes durable; then rests */

/* ---- messages ---- */
void rig_push(struct rig *rig, const char *id); /* to "q"; durable at once, not handed over yet */
void rig_push_to(struct rig *rig, const char *queue, const char *id);
/* To "q", with a key and a body; NULL: none, and {}. */
void rig_push_message(struct rig *rig, const char *id, const char *key, const char *body);
void rig_push_many(struct rig *rig, size_t count); /* m1, m2 … */
/* A change that somebody else than the engine makes; durable at once. */
void rig_commit(struct rig *rig, struct store_op *op);
void rig_replay(struct rig *rig, const char *id); /* a letter of "q", as a replay does */
void rig_mark(struct rig *rig, const char *id, enum state state); /* as people decide; then rests */
uint64_t rig_depth(struct rig *rig, const char *dlq);
/* As the store has it now, until the next look; NULL: it is not held. */
const struct envelope *rig_look(struct rig *rig, const char *id);
enum state rig_state(struct rig *rig, const char *id);
void rig_assert_gone(struct rig *rig, const char *id);

/* ---- calls ---- */
size_t rig_open_calls(const struct rig *rig);
/* The newest one of that message that is not answered; NULL: none. */
struct rig_call *rig_call(struct rig *rig, const char *id);
struct outcome rig_outcome(enum kind kind, int status);
/* Without a rest: the outcome is in the mail. */
void rig_answer(struct rig *rig, const char *id, struct outcome outcome);
void rig_succeed(struct rig *rig, const char *id);          /* then rests */
void rig_fail(struct rig *rig, const char *id, int status); /* then rests */
void rig_push_and_fail(struct rig *rig, const char *id, int status);
/* Every call under way; then rests. */
void rig_succeed_all(struct rig *rig);
void rig_fail_all(struct rig *rig, int status);
/* Five messages f1 … f5 fail at once, which opens the breaker. */
void rig_break_down(struct rig *rig);

/* ---- people ---- */
struct rig_request *rig_request(struct rig *rig, enum engine_request_kind kind);
/* Asked, not yet read. */
struct rig_request *rig_ask(struct rig *rig, enum engine_request_kind kind, const char *why);
/* A report that says so many attempts were made, the last of which failed like this. */
struct rig_request *rig_report(struct rig *rig, const char *id, const char *body, uint32_t attempts,
                               struct outcome outcome);
struct engine_queue_view rig_view(struct rig *rig);

/* ---- what happened ---- */
/* Words since the last call: start(id) submit:update(id) submit:forget(id) submit:put(id)
 * submit:facts settle(id) back(id) append sync cancel(id). */
void rig_assert_log(struct rig *rig, const char *words);
void rig_clear_log(struct rig *rig);
bool rig_saw_event(const struct rig *rig, const char *part);

/* ---- jq ---- */
void rig_jq_answer(struct rig *rig, size_t job, enum status status, bool truthy);
void rig_jq_output(struct rig *rig, size_t job, const char *json); /* what an edit made */

#endif
