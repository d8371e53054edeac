/* connection_log: see the header. */
#include "core/outage/connection_log.h"

#include <assert.h>

static int64_t second_of(struct mono now) {
    return now.ms / 1000;
}

void connection_log_success(struct connection_log *log, struct mono now, uint64_t connection) {
    int64_t second = second_of(now);
    assert(second >= log->second);
    int64_t stale = second - log->second;
    for (int64_t i = 0; i < stale && i < CONNECTION_LOG_SECONDS; i++)
        log->newest[(second - i) % CONNECTION_LOG_SECONDS] = 0;
    log->second = second;
    uint64_t *slot = &log->newest[second % CONNECTION_LOG_SECONDS];
    if (connection > *slot)
        *slot = connection;
}

bool connection_log_has_newer(const struct connection_log *log, struct mono now,
                              uint64_t connection) {
    int64_t oldest = second_of(now) - CONNECTION_LOG_SECONDS + 1;
    if (oldest < 0)
        oldest = 0;
    for (int64_t second = log->second; second >= oldest; second--) {
        if (log->newest[second % CONNECTION_LOG_SECONDS] > connection)
            return true;
    }
    return false;
}
