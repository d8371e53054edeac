/* suspect: handlers that run inside our own process die with us, and we with them. The attempt
 * attempt log knows who was inside; who of them did it, it does not (SEMANTICS 5.1). So each of
 * them is a suspect: suspects run one at a time, in all queues together, while everybody else
 * flows. Whoever comes out alive is cleared; whose turn it was when we died again is to blame for
 * that death.
 *
 * That a message is a suspect stands in the attempt log's file until its turn comes, and from then
 * on in its envelope, so that no death in between forgets it. */
#ifndef ENGINE_SUSPECT_H
#define ENGINE_SUSPECT_H

#include "engine/state.h"

/* False: the message is taken, since it waits for its turn to run alone, or was judged at once. */
bool suspect_admit(struct queue *queue, struct message *held);
struct message *suspect_next(struct queue *queue); /* whose turn it is; NULL: nobody's */

#endif
