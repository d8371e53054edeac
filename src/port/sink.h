/* sink: where something may be published: a broker adapter's other half (DESIGN §2). */
#ifndef PORT_SINK_H
#define PORT_SINK_H

#include "base/bytes.h"
#include "base/status.h"

/* One text on its way. The caller's until done, with everything it points at. */
struct sink_item {
    struct bytes id;   /* of the message: for names such as result:{id} */
    struct bytes body; /* what is published */
    struct bytes content_type;
    /* Called exactly once, from any thread, never from inside publish. OK: the sink has it, as
     * durably as it keeps things. Anything else: it may be published again. */
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

#endif
