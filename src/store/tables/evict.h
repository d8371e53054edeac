/* shed: parks the later half of a lane that holds too much in memory. */
#ifndef STORE_TABLES_EVICT_H
#define STORE_TABLES_EVICT_H

#include "store/tables/ready_queues.h"

void evict_lane(struct ready_queues *waiting, enum paged_queue_kind kind);

#endif
