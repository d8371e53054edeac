/* connection_log: the connections on which messages succeeded recently (SEMANTICS 4.10).
 *
 * A server that restarts, or a proxy that closes old connections, resets calls whose messages are
 * not at fault. A reset counts against its message only if another message succeeded within the
 * last minute on a connection that was opened after the one that was reset.
 *
 * One slot for each second of the window holds the newest connection with a success in it. Pure:
 * time is an argument. Connections are numbered from 1 in the order of opening. */
#ifndef CORE_OUTAGE_CONNECTION_LOG_H
#define CORE_OUTAGE_CONNECTION_LOG_H

#include "base/instant.h"

enum { CONNECTION_LOG_SECONDS = 60 };

struct connection_log {
    int64_t second; /* the newest second */
    uint64_t newest[CONNECTION_LOG_SECONDS];
};

void connection_log_success(struct connection_log *log, struct mono now, uint64_t connection);
/* Whether a success within the window came over a connection newer than this one. */
bool connection_log_has_newer(const struct connection_log *log, struct mono now,
                              uint64_t connection);

#endif
