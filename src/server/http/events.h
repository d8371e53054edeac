/* events: GET /v1/events, server-sent events for any number of clients up to a limit.
 *
 * A listener's connection is suspended while its backlog is empty. events_publish appends to each
 * listener's backlog and resumes its connection; it never waits. A listener whose backlog is full
 * is disconnected. */
#ifndef SERVER_EVENTS_H
#define SERVER_EVENTS_H

#include "base/bytes.h"

enum {
    EVENTS_LISTENERS_MAX = 64,
    EVENTS_BACKLOG_MAX = 256 * 1024, /* bytes that may wait for one listener */
    EVENTS_KEEP_ALIVE_MS = 15 * 1000,
};

struct MHD_Connection;
struct MHD_Response;
struct events;
struct events_listener;

struct events *events_new(void);
/* NULL when there are EVENTS_LISTENERS_MAX, or after events_end. */
struct events_listener *events_join(struct events *events);
void events_leave(struct events *events, struct events_listener *listener); /* NULL-safe */
struct MHD_Response *events_response(struct events_listener *listener,
                                     struct MHD_Connection *connection);
void events_publish(struct events *events, const char *type, struct bytes json);
/* Ends every stream; none is suspended afterwards. */
void events_end(struct events *events);
void events_free(struct events *events); /* to be called after every listener has left */

#endif
