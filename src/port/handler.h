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
    const struct rule_header *headers; /* the message's own */
    size_t header_count;
    uint32_t attempt;  /* from 1 in each round */
    uint32_t replay;   /* 0 before the first replay */
    uint32_t fallback; /* 0: the queue's handler itself; n: the nth fallback */
    struct wall first_attempt_at;

    /* MUST be called exactly once for every start, from any thread, never from inside start or
     * cancel. The outcome and its texts are borrowed for the call alone. Nothing of the call may be
     * touched by the handler afterwards. */
    void (*done)(struct call *call, const struct outcome *outcome);
    void *handler_private; /* the handler's, between start and done */
};

struct handler;

struct handler_vtable {
    const char *kind; /* "http", "exec" */
    /* MUST NOT block and MUST NOT fail: trouble is an outcome. */
    void (*start)(struct handler *handler, struct call *call);
    /* Ends the call soon with ENDING_INTERRUPTED, unless it ended otherwise first. MUST NOT block.
     */
    void (*cancel)(struct handler *handler, struct call *call);
    /* No call is under way. */
    void (*free)(struct handler *handler);
};

struct handler {
    const struct handler_vtable *vtable;
};

#endif
