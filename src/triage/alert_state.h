/* alert_state: one rule about one subject, from quiet to told and back. Pure.
 *
 *            breached                 for `for`               told every `repeat`
 *   QUIET ───────────────▶ PENDING ───────────────▶ FIRING ───────────────────────▶ FIRING
 *     ▲                       │                        │
 *     └──── not breached ─────┴──── not breached: RESOLVE is told
 *
 * Times are on the wall clock, since the state outlives us; a clock that jumps back makes it wait
 * again, never tell twice. */
#ifndef TRIAGE_ALERT_STATE_H
#define TRIAGE_ALERT_STATE_H

#include "triage/alert.h"

enum alert_stage { ALERT_QUIET, ALERT_PENDING, ALERT_FIRING };

struct alert_state {
    enum alert_stage stage;
    struct wall since;    /* breached without a break */
    struct wall fired_at; /* FIRING: when it was first told */
    struct wall told_at;  /* … and last */
};

enum alert_step { ALERT_NOTHING, ALERT_FIRE, ALERT_REPEAT, ALERT_RESOLVE };

const char *alert_stage_text(enum alert_stage stage); /* "quiet" "pending" "firing" */
const char *alert_step_text(enum alert_step step);    /* "fire" "repeat" "resolve" */
bool alert_stage_parse(struct bytes text, enum alert_stage *out);
bool alert_step_parse(struct bytes text, enum alert_step *out);

bool alert_state_breached(const struct alert_rule *rule, double value);
/* What is to be told now. */
enum alert_step alert_state_step(struct alert_state *state, const struct alert_rule *rule,
                                 bool breached, struct wall now);
/* When time alone may change something; WALL_NEVER: not by itself. */
struct wall alert_state_next(const struct alert_state *state, const struct alert_rule *rule);

#endif
