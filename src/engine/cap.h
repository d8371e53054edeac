/* cap: a DLQ that is full and blocks stops its queue from receiving (SEMANTICS 4.4). Retries and
 * replays go on, so that what is inside already may overshoot. The engine's own. */
#ifndef ENGINE_CAP_H
#define ENGINE_CAP_H

#include "engine/state.h"

/* Nothing new may be received, not even as a probe. Sets queue->dlq_full, and logs a change. */
bool cap_is_full(struct queue *queue);
/* Whether anything new may be received: not full, and not about to be by what is on its way. Sets
 * queue->dlq_filling too. */
bool cap_has_room(struct queue *queue);
/* Whether a report would be one letter too many. */
bool cap_refuses_reports(const struct queue *queue);

#endif
