/* spans: records trace spans of messages, in the terms of OpenTelemetry. */
#ifndef PORT_SPANS_H
#define PORT_SPANS_H

#include "base/instant.h"
#include "base/text/traceparent.h"

/* Span attributes for the coordinates of brokers. */
#define SPANS_DESTINATION "messaging.destination.name"
#define SPANS_GROUP       "messaging.consumer.group.name"

enum { SPAN_ATTRIBUTES_MAX = 32, SPAN_LINKS_MAX = 2 };

/* The values of OTLP. */
enum span_kind { SPAN_INTERNAL = 1, SPAN_CLIENT = 3, SPAN_CONSUMER = 5 };

struct span_attribute {
    const char *name;  /* a literal */
    struct bytes text; /* ptr NULL: the value is `number` */
    int64_t number;
};

struct span_link {
    struct traceparent to;
    struct bytes trace_state;
};

/* A span. Borrowed for the call. */
struct span {
    struct traceparent own;             /* trace id, span id and trace flags */
    unsigned char parent[SPAN_ID_SIZE]; /* all zero: a root span */
    struct bytes trace_state;
    struct bytes name;
    enum span_kind kind;
    struct wall from, to;
    struct span_attribute attributes[SPAN_ATTRIBUTES_MAX];
    size_t attribute_count;
    struct span_link links[SPAN_LINKS_MAX];
    size_t link_count;
    bool failed;
    struct bytes trouble; /* if failed: the error message */
};

struct spans_counts {
    uint64_t sent;    /* accepted by the receiver */
    uint64_t dropped; /* not sent: the queue was full, or the receiver refused it */
};

struct spans;

struct spans_vtable {
    /* MUST NOT block: if there is no room, the span is counted as dropped. Copies the data that it
     * keeps. */
    void (*record)(struct spans *spans, const struct span *span);
    void (*counts)(struct spans *spans, struct spans_counts *out); /* from any thread */
};

struct spans {
    const struct spans_vtable *vtable;
    uint32_t sample_permille; /* the share of new traces that are recorded, in 1/1000 */
};

#endif
