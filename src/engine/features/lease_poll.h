/* lease_poll: a worker's request for messages, while it waits for some (a long poll). The engine's
 * own.
 *
 * Requests are served in the order in which they came. One is answered as soon as there is anything
 * for it, with what there is; a suspect or a probe is alone in its answer. Only the first of those
 * that wait can have messages already, and only until the queue's turn ends (lease_poll_send). */
#ifndef ENGINE_LEASE_POLL_H
#define ENGINE_LEASE_POLL_H

#include "engine/state.h"

enum { LEASE_POLL_BYTES_MAX = 16 << 20 }; /* bodies in one answer, but for the last of them */

struct lease_poll;

void lease_poll_open(struct queue *queue, struct engine_request *request);
/* Somebody waits to whom a message may be given, alone in its answer or not. */
bool lease_poll_has_place(struct queue *queue, bool alone);
/* Leases the message to the first who has a place, which there must be. */
void lease_poll_give(struct attempt *attempt);
/* Whoever has got something waits for no more. */
void lease_poll_send(struct queue *queue);
/* One of its leases is durable, or will never be. Answered when that was the last one. */
void lease_poll_granted(struct lease_poll *poll);
void lease_poll_refused(struct lease_poll *poll, enum status status, const struct err *err);
/* One of its leases is gone, and nobody will be answered. NULL: nothing. */
void lease_poll_forsake(struct lease_poll *poll);

void lease_poll_ring(struct engine *engine); /* those who waited long enough get nothing */
struct mono lease_poll_next(const struct engine *engine);
void lease_poll_dismiss(struct queue *queue); /* all get nothing, at once */
void lease_poll_drop(struct queue *queue);    /* all are forgotten, unanswered */

#endif
