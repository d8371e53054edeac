/* cap: when a DLQ with `on_full: block` is full, and what that stops (SEMANTICS 4.4).
 *
 * A DLQ is full from its cap on, and until its depth is below 95 % of it. A message whose letter
 * belongs into a full DLQ waits for room; with too many of them its queue receives nothing. */
#ifndef CORE_OUTAGE_CAP_H
#define CORE_OUTAGE_CAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CAP_PERMILLE = 1000,
    CAP_REOPEN_PERMILLE = 950, /* of the cap: a full DLQ has room again below this depth */
    CAP_AWAITING_MAX = 1000, /* messages of a queue waiting for room at which it stops receiving; or
                                its concurrency if that is more */
};

/* `depth` counts letters in pending_review and replaying. */
bool cap_is_full(uint64_t depth, uint64_t cap, bool was_full);
/* Free room in letters; `arriving` are on their way into it. 0 while it is full. */
uint64_t cap_left(uint64_t depth, uint64_t arriving, uint64_t cap, bool full);
bool cap_stops_receiving(uint64_t awaiting_room, uint64_t concurrency);

#endif
