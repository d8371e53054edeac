/* sink: publishes messages to a broker. */
#ifndef PORT_SINK_H
#define PORT_SINK_H

#include "base/bytes.h"
#include "base/status.h"
#include "core/rule.h"
#include "port/clock.h"

/* A message to publish. The caller's until `done`, with everything that it points at. */
struct sink_item {
    struct bytes id; /* of the message: for names such as result:{id} */
    /* Identifies this publication, also when it is tried again: for servers that drop duplicates.
     * Empty: the id. */
    struct bytes stamp;
    struct bytes body; /* what is published; ptr NULL: a tombstone, where there are such */
    struct bytes key;  /* ptr NULL: none */
    struct bytes content_type;
    const struct rule_header *headers;
    size_t header_count;
    /* The envelope's `source` of a message that returns to its origin; empty: the destination is in
     * the sink's URL. */
    struct bytes origin;
    /* Called exactly once, from any thread, never from inside publish. OK: the broker has stored
     * it, as durably as it stores messages, and routed it somewhere. Anything else: it may be
     * published again. */
    void (*done)(struct sink_item *item, enum status status, const struct err *err);
};

struct sink;

struct sink_vtable {
    const char *kind;                                           /* the name of its broker_kind */
    void (*publish)(struct sink *sink, struct sink_item *item); /* MUST NOT block */
    void (*free)(struct sink *sink);                            /* no item may be unanswered */
};

struct sink {
    const struct sink_vtable *vtable;
};

/* The options of a sink. Borrowed for the call; the clock for its life. */
struct sink_options {
    struct bytes url; /* checked before */
    bool source;      /* it is a source's URL, and every item returns to its origin */
    struct clock *clock;
    uint64_t seed; /* of jitter */
};

#endif
