/* cluster_alone: a store that no other node shares. Every queue is ours at epoch 1; there are no
 * peers, and nothing ever changes hands. */
#ifndef STORE_CLUSTER_ALONE_H
#define STORE_CLUSTER_ALONE_H

#include "port/cluster.h"

extern struct cluster cluster_alone;

#endif
