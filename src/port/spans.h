/* spans: what happened to messages, told to whoever traces (OpenTelemetry's words throughout). */
#ifndef PORT_SPANS_H
#define PORT_SPANS_H

#include "base/instant.h"
#include "base/text/traceparent.h"

/* Attributes that brokers' coordinates become. */
#define SPANS_DESTINATION "messaging.destination.name"
#define SPANS_GROUP       "messaging.consumer.group.name"

enum { SPAN_ATTRIBUTES_MAX = 32, SPAN_LINKS_MAX = 2 };

/* As OTLP numbers them. */
enum span_kind { SPAN_INTERNAL = 1, SPAN_CLIENT = 3, SPAN_CONSUMER = 5 };

struct span_attribute {
    const char *name;  /* a literal */
    struct bytes text; /* ptr NULL: it is a number */
    int64_t number;
};

struct span_link {
    struct traceparent to;
    struct bytes trace_state;
};

/* One thing that took some time. Borrowed for the call. */
struct span {
    struct traceparent own;             /* its trace, its id, the trace's flags */
    unsigned char parent[SPAN_ID_SIZE]; /* zeroes: it is the first of its trace */
    struct bytes trace_state;
    struct bytes name;
    enum span_kind kind;
    struct wall from, to;
    struct span_attribute attributes[SPAN_ATTRIBUTES_MAX];
    size_t attribute_count;
    struct span_link links[SPAN_LINKS_MAX];
    size_t link_count;
    bool failed;
    struct bytes trouble; /* of a failed one, in words */
};

struct spans_counts {
    uint64_t sent;    /* taken by the receiver */
    uint64_t dropped; /* never to be sent: no room, or refused */
};

struct spans;

struct spans_vtable {
    /* MUST NOT block: one that there is no room for is counted and dropped. Copies what it keeps.
     */
    void (*record)(struct spans *spans, const struct span *span);
    void (*counts)(struct spans *spans, struct spans_counts *out); /* from any thread */
};

struct spans {
    const struct spans_vtable *vtable;
    uint32_t sample_permille; /* of the traces that begin here, so many are recorded */
};

#endif
