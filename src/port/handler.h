/* handler: what processes a message. One hand-over is one struct call. */
#ifndef PORT_HANDLER_H
#define PORT_HANDLER_H

#include "base/instant.h"
#include "core/outcome.h"
#include "core/rule.h"

/* One hand-over. The caller owns it and everything it points at until `done`. */
struct call {
    struct bytes queue, id, key; /* key.ptr NULL: none */
    struct bytes body, content_type;
    bool tombstone;                    /* the body is empty because a Kafka record has no value */
    const struct rule_header *headers; /* the message's own */
    size_t header_count;
    uint32_t attempt;  /* from 1 in each round */
    uint32_t replay;   /* 0 before the first replay */
    uint32_t fallback; /* 0: the queue's handler itself; n: the nth fallback */
    struct wall first_attempt_at;
    /* On success the outcome is to bring the handler's answer. For one that is longer than
     * OUTCOME_ANSWER_MAX its first OUTCOME_ANSWER_MAX + 1 bytes stand. In a group all
     * calls want it or none does, and the outcome of the whole brings it. */
    bool wants_answer;
    /* http: a 200 is looked at as the answer of an AI provider, and one that is no success is a
     * failure of KIND_ANSWER (SEMANTICS §15). Goes with wants_answer. */
    bool reads_ai;
    bool own_connection; /* a suspect (SEMANTICS 4.10): it shares no connection with other calls */
    void *mark;          /* the handler's own */

    /* MUST be called exactly once for every start, from any thread, never from inside start or
     * cancel. The outcome and its texts are borrowed for the call alone. Nothing of the call may be
     * touched by the handler afterwards. */
    void (*done)(struct call *call, const struct outcome *outcome);
};

/* Several messages in one hand-over (SEMANTICS §7). The caller owns it until `done`; the calls' own
 * `done` is not used. */
struct call_group {
    struct call **calls;
    size_t count;
    /* Exactly once, as in struct call. `whole` is how the hand-over ended. When that is OK, `items`
     * has one outcome for each call (OK, or what was said of that item); else it is NULL. */
    void (*done)(struct call_group *group, const struct outcome *whole,
                 const struct outcome *items);
};

struct handler;

struct handler_vtable {
    const char *kind; /* "http", "exec", "stream", "callback" */
    bool in_process;  /* it runs inside our own process: what kills it kills us */
    /* MUST NOT block and MUST NOT fail: trouble is an outcome. */
    void (*start)(struct handler *handler, struct call *call);
    /* Wakes who does the work: what was started may lie until then, so that many calls cost one
     * wake-up. MUST be called after the last of them. NULL: what is started begins by itself. */
    void (*rouse)(struct handler *handler);
    /* Ends the call soon with ENDING_INTERRUPTED, unless it ended otherwise first. MUST NOT block.
     */
    void (*cancel)(struct handler *handler, struct call *call);
    /* The same for several; NULL: this handler takes one at a time. */
    void (*start_group)(struct handler *handler, struct call_group *group);
    void (*cancel_group)(struct handler *handler, struct call_group *group);
    /* No call is under way. */
    void (*free)(struct handler *handler);
};

struct handler {
    const struct handler_vtable *vtable;
};

#endif
