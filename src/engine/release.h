/* release: what a worker says of its leases: ack, fail or extend, one or many in a request. The
 * engine's own. Each is answered by itself; the request is when all of them are, after what they
 * changed is durable. */
#ifndef ENGINE_RELEASE_H
#define ENGINE_RELEASE_H

#include "engine/engine.h"

struct lease;
struct releasing;

/* One of a request's, while it waits. */
struct release {
    struct releasing *all; /* NULL: nobody waits */
    struct engine_release *one;
};

void release_open(struct engine *engine, struct engine_request *request);
/* Answers whoever waits for the commit that the lease was in. NULL: nobody. */
void release_settle(struct lease *lease);
void release_refuse(struct lease *lease, const struct err *err);
/* The extension or the end is recorded: an ack or fail that waited for it goes on. */
void release_unpark(struct lease *lease);
/* Nobody will be answered. */
void release_forsake(struct lease *lease);

#endif
