/* live_config: what the configuration in force says of queues and DLQs. A reload replaces it at any
 * moment, so whoever needs it asks at each use and keeps nothing but texts, which live as long as
 * the process. All functions may be called from any thread and answer from memory. */
#ifndef PORT_LIVE_CONFIG_H
#define PORT_LIVE_CONFIG_H

#include "base/arena.h"
#include "core/policy.h"

struct live_config_dlq {
    uint64_t cap;         /* letters that it may hold; 0: any number */
    struct bytes owner;   /* empty: nobody's */
    struct bytes archive; /* where letters are spilled to; empty: nowhere */
};

struct live_config {
    /* False: no such DLQ is configured. */
    bool (*dlq)(void *arg, struct bytes name, struct live_config_dlq *out);
    /* All configured ones, in the arena; one that queues share may be named twice. */
    size_t (*dlq_names)(void *arg, struct arena *arena, struct bytes **out);
    /* NULL: no such queue is configured. Either way MUST be followed by `release`, until which the
     * policy stays valid and a reload waits. */
    const struct policy *(*policy)(void *arg, struct bytes queue);
    void (*release)(void *arg);
    /* The queue has a compensating handler. */
    bool (*compensates)(void *arg, struct bytes queue);
    void *arg;
};

#endif
