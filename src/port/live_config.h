/* live_config: the current configuration of queues and DLQs. A reload replaces it at any time, so
 * callers read it at each use and keep only the texts, which stay valid until the process ends. All
 * functions may be called from any thread and answer from memory. */
#ifndef PORT_LIVE_CONFIG_H
#define PORT_LIVE_CONFIG_H

#include "base/arena.h"
#include "core/policy.h"

struct live_config_dlq {
    uint64_t cap;         /* the maximum number of letters; 0: no limit */
    struct bytes owner;   /* empty: none */
    struct bytes archive; /* directory to which letters are spilled; empty: none */
};

struct live_config {
    /* False: no such DLQ is configured. */
    bool (*dlq)(void *arg, struct bytes name, struct live_config_dlq *out);
    /* The names of all configured DLQs, in the arena; a DLQ that several queues share may occur
     * twice. */
    size_t (*dlq_names)(void *arg, struct arena *arena, struct bytes **out);
    /* NULL: no such queue is configured. Either way MUST be followed by `release`, until which the
     * policy stays valid and a reload waits. */
    const struct policy *(*policy)(void *arg, struct bytes queue);
    void (*release)(void *arg);
    /* True if the queue has a compensating handler. */
    bool (*compensates)(void *arg, struct bytes queue);
    void *arg;
};

#endif
