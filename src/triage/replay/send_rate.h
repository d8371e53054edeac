/* send_rate: the send rate of a replay: a ramp from max(10/s, rate/10), doubling every 10 s up to
 * the target rate. After a late wake-up at most SEND_RATE_SLACK_MS are caught up, so that no second
 * exceeds its share. Pure: time is an argument. */
#ifndef TRIAGE_REPLAY_SEND_RATE_H
#define TRIAGE_REPLAY_SEND_RATE_H

#include "base/instant.h"

enum { SEND_RATE_RAMP_FLOOR = 10, SEND_RATE_RAMP_STEP_MS = 10 * 1000, SEND_RATE_SLACK_MS = 80 };

struct send_rate {
    double target; /* letters per second; 0: unlimited */
    bool ramp;
    struct mono began; /* start of the ramp */
    double due_ms;     /* when the next letter may be sent */
};

/* Starts at the beginning of the ramp. */
void send_rate_begin(struct send_rate *pace, double target, bool ramp, struct mono now);
/* Letters per second at `now`; 0: unlimited. */
double send_rate_rate(const struct send_rate *pace, struct mono now);
bool send_rate_is_ramping(const struct send_rate *pace, struct mono now);
/* How many letters may be sent now, at most `max`. */
uint32_t send_rate_room(struct send_rate *pace, struct mono now, uint32_t max);
void send_rate_sent(struct send_rate *pace, struct mono now, uint32_t count);
/* When the next letter may be sent. */
struct mono send_rate_next(const struct send_rate *pace);
/* Seconds that `count` letters take; 0 if unlimited. */
double send_rate_estimate(double target, bool ramp, uint64_t count);

#endif
