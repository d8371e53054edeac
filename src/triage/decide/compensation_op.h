/* compensation_op: marks a letter for its queue's compensating handler. Nothing is sent from here:
 * the letter becomes `replaying` with a mark, and the engine calls the handler
 * (engine/features/compensation.c).
 */
#ifndef TRIAGE_DECIDE_COMPENSATION_OP_H
#define TRIAGE_DECIDE_COMPENSATION_OP_H

#include "port/store.h"

/* Changes held->envelope and returns the op that stores it, if the letter is still pending_review;
 * borrows `held` and `why`. */
struct store_op compensate_op(struct message *held, uint32_t queue, struct bytes why,
                              struct wall now);

#endif
