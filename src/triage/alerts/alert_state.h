/* alert_state: the state of one rule for one subject. Pure.
 *
 *             breached               for `for`: FIRE              every `repeat`: REPEAT
 *   QUIET ───────────────▶ PENDING ───────────────▶ FIRING ───────────────────────▶ FIRING
 *     ▲                       │                        │
 *     └──── not breached ─────┴──── not breached: RESOLVE
 *
 * Times are wall clock times, since the state is stored and survives restarts. After a clock that
 * jumps back an alert waits longer; no notice is sent twice. */
#ifndef TRIAGE_ALERTS_ALERT_STATE_H
#define TRIAGE_ALERTS_ALERT_STATE_H

#include "triage/alerts/alert.h"

enum alert_stage { ALERT_QUIET, ALERT_PENDING, ALERT_FIRING };

struct alert_state {
    enum alert_stage stage;
    struct wall since;    /* start of the uninterrupted breach */
    struct wall fired_at; /* FIRING: time of the first notice */
    struct wall told_at;  /* … and of the last */
};

enum alert_step { ALERT_NOTHING, ALERT_FIRE, ALERT_REPEAT, ALERT_RESOLVE };

const char *alert_stage_text(enum alert_stage stage); /* "quiet" "pending" "firing" */
const char *alert_step_text(enum alert_step step);    /* "fire" "repeat" "resolve" */
bool alert_stage_parse(struct bytes text, enum alert_stage *out);
bool alert_step_parse(struct bytes text, enum alert_step *out);

bool alert_state_breached(const struct alert_rule *rule, double value);
/* Advances the state; returns the notice to send now. */
enum alert_step alert_state_step(struct alert_state *state, const struct alert_rule *rule,
                                 bool breached, struct wall now);
/* The time at which the state may change without a new sample; WALL_NEVER: not at all. */
struct wall alert_state_next(const struct alert_state *state, const struct alert_rule *rule);

#endif
