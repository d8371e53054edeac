/* compensate: a letter is given to its queue's compensating handler. Nothing is sent from here: the
 * letter becomes `replaying` with a mark, and the engine does the rest (engine/compensate.c). */
#ifndef TRIAGE_COMPENSATE_H
#define TRIAGE_COMPENSATE_H

#include "port/store.h"

/* Changes held->envelope and returns the op that makes it so, if the letter still waits for people;
 * borrows `held` and `why`. */
struct store_op compensate_op(struct message *held, uint32_t queue, struct bytes why,
                              struct wall now);

#endif
