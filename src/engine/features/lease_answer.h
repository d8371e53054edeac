/* lease_answer: what a worker says of its leases: ack, fail or extend, one or many in a request.
 * The engine's own. Each is answered by itself; the request is when all of them are, after what
 * they changed is durable. */
#ifndef ENGINE_LEASE_ANSWER_H
#define ENGINE_LEASE_ANSWER_H

#include "engine/engine.h"

struct lease;
struct lease_answers;

/* One of a request's, while it waits. */
struct lease_answer {
    struct lease_answers *all; /* NULL: nobody waits */
    struct engine_release *one;
};

void lease_answer_open(struct engine *engine, struct engine_request *request);
/* Answers whoever waits for the commit that the lease was in. NULL: nobody. */
void lease_answer_settle(struct lease *lease);
void lease_answer_refuse(struct lease *lease, const struct err *err);
/* The extension or the end is recorded: an ack or fail that waited for it goes on. */
void lease_answer_unpark(struct lease *lease);
/* Nobody will be answered. */
void lease_answer_forsake(struct lease *lease);

#endif
