/* handler: processes messages. One attempt is one struct call. */
#ifndef PORT_HANDLER_H
#define PORT_HANDLER_H

#include "base/instant.h"
#include "core/outcome.h"
#include "core/rule.h"

/* One attempt to process a message. The caller owns it and everything it points at until `done`. */
struct call {
    struct bytes queue, id, key; /* key.ptr NULL: none */
    struct bytes body, content_type;
    bool tombstone;                    /* the body is empty because a Kafka record has no value */
    const struct rule_header *headers; /* the headers of the message */
    size_t header_count;
    uint32_t attempt;  /* starts at 1 in each round */
    uint32_t replay;   /* 0 before the first replay */
    uint32_t fallback; /* 0: the queue's handler itself; n: the nth fallback */
    struct wall first_attempt_at;
    /* On success the outcome must include the handler's answer. A longer one than
     * OUTCOME_ANSWER_MAX is cut to its first OUTCOME_ANSWER_MAX + 1 bytes. In a group all calls
     * want it or none does, and the outcome of the whole group has it. */
    bool wants_answer;
    /* http: a 200 is parsed as the answer of an AI provider, and an answer that is not a success is
     * a failure of KIND_ANSWER (SEMANTICS §15). Requires wants_answer. */
    bool reads_ai;
    /* A suspect (SEMANTICS 4.10): it must not share a connection with other calls. */
    bool own_connection;
    void *mark; /* for use by the handler */

    /* MUST be called exactly once for every start, from any thread, never from inside start or
     * cancel. The outcome and its texts are borrowed for the call alone. The handler must not touch
     * the call afterwards. */
    void (*done)(struct call *call, const struct outcome *outcome);
};

/* Several messages in one request (SEMANTICS §7). The caller owns it until `done`; the calls' own
 * `done` is not used. */
struct call_group {
    struct call **calls;
    size_t count;
    /* Called exactly once, as in struct call. `whole` is the outcome of the request. If it is OK,
     * `items` has one outcome for each call; otherwise `items` is NULL. */
    void (*done)(struct call_group *group, const struct outcome *whole,
                 const struct outcome *items);
};

struct handler;

struct handler_vtable {
    const char *kind; /* "http", "exec", "stream", "callback" */
    bool in_process;  /* it runs inside this process, so a crash of it is a crash of impound */
    /* MUST NOT block and MUST NOT fail: errors are reported as an outcome. */
    void (*start)(struct handler *handler, struct call *call);
    /* Wakes the handler's thread. Calls that were started may stay queued until then, so that many
     * calls cost one wake-up. MUST be called after the last start. NULL: calls begin without it. */
    void (*rouse)(struct handler *handler);
    /* Ends the call soon with ENDING_INTERRUPTED, unless it ends otherwise first. MUST NOT block.
     */
    void (*cancel)(struct handler *handler, struct call *call);
    /* Starts several messages as one request; NULL: this handler takes one message at a time. */
    void (*start_group)(struct handler *handler, struct call_group *group);
    void (*cancel_group)(struct handler *handler, struct call_group *group);
    /* MUST NOT be called while a call is in progress. */
    void (*free)(struct handler *handler);
};

struct handler {
    const struct handler_vtable *vtable;
};

#endif
