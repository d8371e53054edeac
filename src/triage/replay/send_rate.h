/* pace: the send rate of a replay: a ramp from max(10/s, rate/10), doubling every 10 s up to the
 * target rate. After a late wake-up at most PACE_SLACK_MS are caught up, so that no second exceeds
 * its share. Pure: time is an argument. */
#ifndef TRIAGE_REPLAY_SEND_RATE_H
#define TRIAGE_REPLAY_SEND_RATE_H

#include "base/instant.h"

enum { PACE_RAMP_FLOOR = 10, PACE_RAMP_STEP_MS = 10 * 1000, PACE_SLACK_MS = 80 };

struct pace {
    double target; /* letters per second; 0: unlimited */
    bool ramp;
    struct mono began; /* start of the ramp */
    double due_ms;     /* when the next letter may be sent */
};

/* Starts at the beginning of the ramp. */
void pace_begin(struct pace *pace, double target, bool ramp, struct mono now);
/* Letters per second at `now`; 0: unlimited. */
double pace_rate(const struct pace *pace, struct mono now);
bool pace_is_ramping(const struct pace *pace, struct mono now);
/* How many letters may be sent now, at most `max`. */
uint32_t pace_room(struct pace *pace, struct mono now, uint32_t max);
void pace_sent(struct pace *pace, struct mono now, uint32_t count);
/* When the next letter may be sent. */
struct mono pace_next(const struct pace *pace);
/* Seconds that `count` letters take; 0 if unlimited. */
double pace_estimate(double target, bool ramp, uint64_t count);

#endif
