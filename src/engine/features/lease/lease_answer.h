/* lease_answer: a worker's answers to its leases: ack, fail or extend, one or many in a request.
 * Private to the engine. Each answer has its own result; the request is answered when all results
 * are there and the changes are durable. */
#ifndef ENGINE_LEASE_ANSWER_H
#define ENGINE_LEASE_ANSWER_H

#include "engine/engine.h"

struct lease;
struct lease_answers;

/* One answer of a request, while it waits. */
struct lease_answer {
    struct lease_answers *all; /* NULL: no request waits */
    struct engine_release *one;
};

void lease_answer_open(struct engine *engine, struct engine_request *request);
/* Answers the request that waits for the lease's commit, if there is one. */
void lease_answer_settle(struct lease *lease);
void lease_answer_refuse(struct lease *lease, const struct err *err);
/* The extension or the end of the lease is durable: an ack or fail that waited for it is processed.
 */
void lease_answer_unpark(struct lease *lease);
/* Drops the waiting requests without an answer. */
void lease_answer_forsake(struct lease *lease);

#endif
