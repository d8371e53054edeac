/* compensate: a letter in the hands of its queue's compensating handler. */
#ifndef ENGINE_COMPENSATE_H
#define ENGINE_COMPENSATE_H

#include "engine/state.h"

bool compensate_is(const struct flight *flight);
void compensate_begin(struct flight *flight); /* in place of flight_call */
struct decision compensate_decide(struct flight *flight);
/* What that means for the letter. */
void compensate_carry_out(struct flight *flight, const struct decision *decision);

#endif
