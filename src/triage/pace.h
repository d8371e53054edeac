/* pace: how fast letters go. A ramp from max(10/s, rate/10), doubling every 10 s up to the rate;
 * what was missed by a late wake-up is caught up only a little, so that no second has more than its
 * share. Pure: time is an argument. */
#ifndef TRIAGE_PACE_H
#define TRIAGE_PACE_H

#include "base/instant.h"

enum { PACE_RAMP_FLOOR = 10, PACE_RAMP_STEP_MS = 10 * 1000, PACE_SLACK_MS = 80 };

struct pace {
    double target; /* letters per second; 0: as fast as they can be sent */
    bool ramp;
    struct mono began; /* the ramp */
    double due_ms;     /* when the next one may go */
};

/* From the foot of the ramp. */
void pace_begin(struct pace *pace, double target, bool ramp, struct mono now);
/* Letters per second at this moment; 0: without a limit. */
double pace_rate(const struct pace *pace, struct mono now);
bool pace_is_ramping(const struct pace *pace, struct mono now);
/* How many may go now, at most `max`. */
uint32_t pace_room(struct pace *pace, struct mono now, uint32_t max);
void pace_sent(struct pace *pace, struct mono now, uint32_t count);
/* When the next one may go. */
struct mono pace_next(const struct pace *pace);
/* How many seconds so many letters take; 0 without a limit. */
double pace_estimate(double target, bool ramp, uint64_t count);

#endif
