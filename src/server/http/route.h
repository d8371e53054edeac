/* route: maps a method and path to a call. routes.c has the one table; a test compares it with
 * api/openapi.yaml, which describes every call. */
#ifndef SERVER_ROUTE_H
#define SERVER_ROUTE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

struct request;

enum { ROUTE_PARAMS_MAX = 2, ROUTE_SEGMENTS_MAX = 8, ROUTE_ALLOW_SIZE = 64 };

enum route_how {
    ROUTE_AT_ONCE, /* answers from memory, on the HTTP thread */
    ROUTE_HEALTH,  /* suspended, and run by the thread that answers only health and metrics */
    ROUTE_WORKER,  /* may block: suspended, and run by a worker */
    ROUTE_SLOW,    /* may block for long: the same, by workers of their own (workers.h) */
    ROUTE_BULK,    /* ROUTE_SLOW, with a body of up to REQUEST_BULK_MAX */
    ROUTE_AWAITS,  /* suspended, then started on the HTTP thread; the store or the engine answers it
                    */
};

struct route {
    const char *method;
    const char *path; /* "/v1/queues/{queue}/messages" */
    enum route_how how;
    void (*call)(struct request *request);
};

extern const struct route routes[];
extern const size_t route_count;

/* OK: *out and the decoded params. NOT_FOUND: no such path. METHOD: `allow` lists the methods of
 * the path, with OPTIONS, which every path has and which has no row. INVALID: the path's
 * percent-encoding is broken. HEAD uses the row of GET. */
enum status route_find(struct bytes method, struct bytes path, struct arena *arena,
                       const struct route **out, struct bytes params[ROUTE_PARAMS_MAX],
                       char allow[ROUTE_ALLOW_SIZE]);

#endif
