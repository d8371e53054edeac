/* sink: where something may be published: a broker adapter's other half (DESIGN §2). */
#ifndef PORT_SINK_H
#define PORT_SINK_H

#include "base/bytes.h"
#include "base/status.h"
#include "core/rule.h"
#include "port/clock.h"

/* One message on its way. The caller's until done, with everything it points at. */
struct sink_item {
    struct bytes id; /* of the message: for names such as result:{id} */
    /* What makes this publication itself and no other, the same when it is tried again: for servers
     * that drop what they had before. Empty: the id. */
    struct bytes stamp;
    struct bytes body; /* what is published; ptr NULL: a tombstone, where there are such */
    struct bytes key;  /* ptr NULL: none */
    struct bytes content_type;
    const struct rule_header *headers;
    size_t header_count;
    /* The envelope's `source` of the message that goes back to where it came from; empty: to where
     * the sink's URL says. */
    struct bytes origin;
    /* Called exactly once, from any thread, never from inside publish. OK: the sink has it, as
     * durably as it keeps things, and it was routed somewhere. Anything else: it may be published
     * again. */
    void (*done)(struct sink_item *item, enum status status, const struct err *err);
};

struct sink;

struct sink_vtable {
    const char *kind;                                           /* "redis" */
    void (*publish)(struct sink *sink, struct sink_item *item); /* MUST NOT block */
    void (*free)(struct sink *sink);                            /* nothing is on its way */
};

struct sink {
    const struct sink_vtable *vtable;
};

/* What a sink is made from. Borrowed for the call; the clock for its life. */
struct sink_options {
    struct bytes url; /* checked before */
    bool source;      /* it is a source's URL, and every item goes back to its origin */
    struct clock *clock;
    uint64_t seed; /* of jitter */
};

#endif
