/* suspect: a handler that runs inside our own process can crash it. The attempt log has the
 * messages that were in flight inside the process, but not which of them caused the crash
 * (SEMANTICS 5.1). So each of them is a suspect: suspects run one at a time, over all queues
 * together, while other messages flow. A suspect whose attempt ends without a crash is cleared; a
 * suspect that was running alone during another crash is blamed for it.
 *
 * A suspect is marked in the attempt log's file until its turn comes, and from then on in its
 * envelope, so the mark survives further crashes. */
#ifndef ENGINE_SUSPECT_H
#define ENGINE_SUSPECT_H

#include "engine/state.h"

/* False: this call took ownership of the message, because it waits for its turn to run alone or was
 * judged at once. */
bool suspect_admit(struct queue *queue, struct message *held);
struct message *suspect_next(struct queue *queue); /* the suspect whose turn it is; NULL: none */

#endif
