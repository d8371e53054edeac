/* cluster_alone: the cluster port for a store that one node uses alone. It owns every queue at
 * epoch 1; there are no peers, and ownership never changes. */
#ifndef STORE_CLUSTER_ALONE_H
#define STORE_CLUSTER_ALONE_H

#include "port/cluster.h"

extern struct cluster cluster_alone;

#endif
