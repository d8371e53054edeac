/* cap: see the header. */
#include "core/outage/cap.h"

bool cap_is_full(uint64_t depth, uint64_t cap, bool was_full) {
    return depth * CAP_PERMILLE >= cap * (was_full ? CAP_REOPEN_PERMILLE : CAP_PERMILLE);
}

uint64_t cap_left(uint64_t depth, uint64_t arriving, uint64_t cap, bool full) {
    uint64_t taken = depth + arriving;
    return full || taken >= cap ? 0 : cap - taken;
}

bool cap_stops_receiving(uint64_t awaiting_room, uint64_t concurrency) {
    uint64_t most = concurrency > CAP_AWAITING_MAX ? concurrency : CAP_AWAITING_MAX;
    return awaiting_room >= most;
}
