/* fetch: a worker's request for messages, while it waits for some (a long poll). The engine's own.
 *
 * Requests are served in the order in which they came. One is answered as soon as there is anything
 * for it, with what there is; a suspect or a probe is alone in its answer. Only the first of those
 * that wait can have messages already, and only until the queue's turn ends (fetch_send). */
#ifndef ENGINE_FETCH_H
#define ENGINE_FETCH_H

#include "engine/state.h"

enum { FETCH_BYTES_MAX = 16 << 20 }; /* bodies in one answer, but for the last of them */

struct fetch;

void fetch_open(struct queue *queue, struct engine_request *request);
/* Somebody waits to whom a message may be given, alone in its answer or not. */
bool fetch_has_place(struct queue *queue, bool alone);
/* Leases the message to the first who has a place, which there must be. */
void fetch_give(struct flight *flight);
/* Whoever has got something waits for no more. */
void fetch_send(struct queue *queue);
/* One of its leases is durable, or will never be. Answered when that was the last one. */
void fetch_granted(struct fetch *fetch);
void fetch_refused(struct fetch *fetch, enum status status, const struct err *err);
/* One of its leases is gone, and nobody will be answered. NULL: nothing. */
void fetch_forsake(struct fetch *fetch);

void fetch_ring(struct engine *engine); /* those who waited long enough get nothing */
struct mono fetch_next(const struct engine *engine);
void fetch_dismiss(struct queue *queue); /* all get nothing, at once */
void fetch_drop(struct queue *queue);    /* all are forgotten, unanswered */

#endif
