/* cluster: the queues that this node owns, and the epoch of each.
 *
 * A queue has one owner at a time. Its epoch grows with every change of owner, and every durable
 * change carries it (port/journal.h), so that a former owner is fenced even before it learns of the
 * change. An embedded store is used by one node alone: it owns every queue, at epoch 1, for as long
 * as it is open. */
#ifndef PORT_CLUSTER_H
#define PORT_CLUSTER_H

#include "base/arena.h"

/* Another node, to which requests about its queues are forwarded. */
struct cluster_peer {
    struct bytes name, url;
};

struct cluster;

struct cluster_vtable {
    /* The epoch at which this node owns the queue; 0: it does not own it. Answered from memory; any
     * thread. */
    uint64_t (*epoch)(struct cluster *cluster, struct bytes queue);
    /* `changed` is called (from any thread) with the epoch when a queue is granted, and with 0 when
     * it is lost. It MUST NOT block. One listener, which must outlive the cluster. */
    void (*listen)(struct cluster *cluster,
                   void (*changed)(void *arg, struct bytes queue, uint64_t epoch), void *arg);
    /* The other nodes that are up. Answered from memory, as last known. */
    size_t (*peers)(struct cluster *cluster, struct arena *arena, struct cluster_peer **out);
};

struct cluster {
    const struct cluster_vtable *vtable;
};

#endif
