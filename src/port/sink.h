/* sink: publishes messages to a broker. */
#ifndef PORT_SINK_H
#define PORT_SINK_H

#include "base/bytes.h"
#include "base/status.h"
#include "core/rule.h"
#include "port/clock.h"

/* A message to publish. Owned by the caller, who keeps it and everything that it points at
 * valid until `done`. */
struct sink_item {
    struct bytes id; /* the message id, for destination names such as result:{id} */
    /* Identifies this publication and its repetitions, for servers that drop duplicates. Empty: the
     * id. */
    struct bytes stamp;
    struct bytes body; /* ptr NULL: a tombstone, if the broker has tombstones */
    struct bytes key;  /* ptr NULL: none */
    struct bytes content_type;
    const struct rule_header *headers;
    size_t header_count;
    /* The `source` of the envelope, for a message that is sent back to its origin; empty: the
     * destination is in the sink's URL. */
    struct bytes origin;
    /* Called exactly once, from any thread, never from inside publish. OK: the broker has stored
     * the message, as durably as it stores messages, and routed it to a queue. Any other status: it
     * may be published again. */
    void (*done)(struct sink_item *item, enum status status, const struct err *err);
};

struct sink;

struct sink_vtable {
    const char *kind;                                           /* the name of its broker_kind */
    void (*publish)(struct sink *sink, struct sink_item *item); /* MUST NOT block */
    /* MUST NOT be called before `done` was called for every item. */
    void (*free)(struct sink *sink);
};

struct sink {
    const struct sink_vtable *vtable;
};

/* The options of a sink. Borrowed for the call, except the clock, which must outlive the sink. */
struct sink_options {
    struct bytes url; /* already checked */
    bool source;      /* the URL is that of a source, and every item is sent back to its origin */
    struct clock *clock;
    uint64_t seed; /* for jitter */
};

#endif
