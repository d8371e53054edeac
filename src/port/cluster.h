/* cluster: which queues are ours, and at which epoch.
 *
 * A queue has one owner at a time. Its epoch grows with every change of hands, and every durable
 * change carries it (port/journal.h), so that a former owner that does not know it yet is fenced.
 * An embedded store is alone: it owns every queue, at epoch 1, for as long as it is open. */
#ifndef PORT_CLUSTER_H
#define PORT_CLUSTER_H

#include "base/arena.h"

/* Another node, for requests about its queues. */
struct cluster_peer {
    struct bytes name, url;
};

struct cluster;

struct cluster_vtable {
    /* The epoch at which the queue is ours; 0: it is not. From memory; any thread. */
    uint64_t (*epoch)(struct cluster *cluster, struct bytes queue);
    /* Called (from any thread) when a queue was granted, with its epoch, or lost, with 0. MUST NOT
     * block. One listener, which must outlive the cluster. */
    void (*listen)(struct cluster *cluster,
                   void (*changed)(void *arg, struct bytes queue, uint64_t epoch), void *arg);
    /* The other nodes that live. From memory, as last heard. */
    size_t (*peers)(struct cluster *cluster, struct arena *arena, struct cluster_peer **out);
};

struct cluster {
    const struct cluster_vtable *vtable;
};

#endif
