/* send_rate: the send rate of a replay. See the header. */
#include "triage/replay/send_rate.h"

#include <assert.h>

static double ramp_foot(double target) {
    double foot = target / 10 > SEND_RATE_RAMP_FLOOR ? target / 10 : SEND_RATE_RAMP_FLOOR;
    return foot < target ? foot : target;
}

void send_rate_begin(struct send_rate *pace, double target, bool ramp, struct mono now) {
    assert(target >= 0);
    *pace =
        (struct send_rate){.target = target, .ramp = ramp, .began = now, .due_ms = (double)now.ms};
}

static double rate_after(double target, bool ramp, int64_t ms) {
    if (!ramp || target <= 0)
        return target;
    double rate = ramp_foot(target);
    for (int64_t left = ms; left >= SEND_RATE_RAMP_STEP_MS && rate < target;
         left -= SEND_RATE_RAMP_STEP_MS)
        rate *= 2;
    return rate < target ? rate : target;
}

double send_rate_rate(const struct send_rate *pace, struct mono now) {
    return rate_after(pace->target, pace->ramp, now.ms - pace->began.ms);
}

bool send_rate_is_ramping(const struct send_rate *pace, struct mono now) {
    return send_rate_rate(pace, now) < pace->target;
}

uint32_t send_rate_room(struct send_rate *pace, struct mono now, uint32_t max) {
    double rate = send_rate_rate(pace, now);
    if (rate <= 0)
        return max;
    if (pace->due_ms < (double)(now.ms - SEND_RATE_SLACK_MS))
        pace->due_ms = (double)(now.ms - SEND_RATE_SLACK_MS);
    double late_ms = (double)now.ms - pace->due_ms;
    if (late_ms < 0)
        return 0;
    double room = late_ms * rate / 1000 + 1;
    return room < max ? (uint32_t)room : max;
}

void send_rate_sent(struct send_rate *pace, struct mono now, uint32_t count) {
    double rate = send_rate_rate(pace, now);
    if (rate > 0)
        pace->due_ms += count * 1000 / rate;
}

struct mono send_rate_next(const struct send_rate *pace) {
    int64_t whole = (int64_t)pace->due_ms;
    return (struct mono){(double)whole < pace->due_ms ? whole + 1 : whole};
}

double send_rate_estimate(double target, bool ramp, uint64_t count) {
    assert(target >= 0);
    double left = (double)count, seconds = 0;
    if (target <= 0)
        return 0;
    double rate = rate_after(target, ramp, 0);
    while (rate < target && left > rate * SEND_RATE_RAMP_STEP_MS / 1000) {
        left -= rate * SEND_RATE_RAMP_STEP_MS / 1000;
        seconds += (double)SEND_RATE_RAMP_STEP_MS / 1000;
        rate = rate * 2 < target ? rate * 2 : target;
    }
    return seconds + left / rate;
}
