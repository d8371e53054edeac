/* lease_poll: a worker's request for messages, while it waits for them (a long poll). Private to
 * the engine.
 *
 * Requests are served in the order of their arrival. A request is answered as soon as any message
 * is available, with the messages that are; a suspect or a probe is alone in its answer. Only the
 * first waiting request can have messages already, and only until the queue's turn ends
 * (lease_poll_send). */
#ifndef ENGINE_LEASE_POLL_H
#define ENGINE_LEASE_POLL_H

#include "engine/state.h"

/* Total size of the bodies in one answer; the last body may exceed it. */
enum { LEASE_POLL_BYTES_MAX = 16 << 20 };

struct lease_poll;

void lease_poll_open(struct queue *queue, struct engine_request *request);
/* True if a waiting request can take a message, alone in its answer or not. */
bool lease_poll_has_place(struct queue *queue, bool alone);
/* Leases the message to the first request that can take it; there must be one. */
void lease_poll_give(struct attempt *attempt);
/* Requests that have at least one message stop waiting for more. */
void lease_poll_send(struct queue *queue);
/* One of the request's leases is durable, or failed for good. The last one sends the answer. */
void lease_poll_granted(struct lease_poll *poll);
void lease_poll_refused(struct lease_poll *poll, enum status status, const struct err *err);
/* One of the request's leases was freed, and the request gets no answer. NULL: does nothing. */
void lease_poll_forsake(struct lease_poll *poll);

/* Answers the requests whose wait is over, with no message. */
void lease_poll_ring(struct engine *engine);
struct mono lease_poll_next(const struct engine *engine);
/* Answers all waiting requests at once, with no message. */
void lease_poll_dismiss(struct queue *queue);
void lease_poll_drop(struct queue *queue); /* frees all waiting requests without an answer */

#endif
