/* evict: parks the later half of a paged queue that has too many entries in memory. */
#ifndef STORE_TABLES_EVICT_H
#define STORE_TABLES_EVICT_H

#include "store/tables/ready/ready_queues.h"

void evict_lane(struct ready_queues *waiting, enum paged_queue_kind kind);

#endif
