/* alert_state: see the picture in the header. */
#include "triage/alerts/alert_state.h"

#include <assert.h>

static const char *const stages[] = {
    [ALERT_QUIET] = "quiet", [ALERT_PENDING] = "pending", [ALERT_FIRING] = "firing"};
static const char *const steps[] = {[ALERT_NOTHING] = "nothing",
                                    [ALERT_FIRE] = "fire",
                                    [ALERT_REPEAT] = "repeat",
                                    [ALERT_RESOLVE] = "resolve"};

const char *alert_stage_text(enum alert_stage stage) {
    assert(stage <= ALERT_FIRING);
    return stages[stage];
}

const char *alert_step_text(enum alert_step step) {
    assert(step <= ALERT_RESOLVE);
    return steps[step];
}

bool alert_stage_parse(struct bytes text, enum alert_stage *out) {
    for (int stage = ALERT_QUIET; stage <= ALERT_FIRING; stage++)
        if (bytes_is(text, stages[stage])) {
            *out = (enum alert_stage)stage;
            return true;
        }
    return false;
}

bool alert_step_parse(struct bytes text, enum alert_step *out) {
    for (int step = ALERT_FIRE; step <= ALERT_RESOLVE; step++)
        if (bytes_is(text, steps[step])) {
            *out = (enum alert_step)step;
            return true;
        }
    return false;
}

bool alert_state_breached(const struct alert_rule *rule, double value) {
    return rule->below ? value < rule->limit : value > rule->limit;
}

static enum alert_step clear_alert(struct alert_state *state, const struct alert_rule *rule) {
    bool was_sent = state->stage == ALERT_FIRING && !rule->ticket;
    *state = (struct alert_state){.stage = ALERT_QUIET};
    return was_sent ? ALERT_RESOLVE : ALERT_NOTHING;
}

/* A time in the future was written before the clock went back: the wait starts again. */
static bool passed(struct wall *from, int64_t ms, struct wall now) {
    if (from->ms > now.ms)
        *from = now;
    return now.ms - from->ms >= ms;
}

enum alert_step alert_state_step(struct alert_state *state, const struct alert_rule *rule,
                                 bool breached, struct wall now) {
    assert(state->stage <= ALERT_FIRING);
    if (!breached)
        return clear_alert(state, rule);
    if (state->stage == ALERT_QUIET)
        *state = (struct alert_state){.stage = ALERT_PENDING, .since = now};
    if (state->stage == ALERT_PENDING) {
        if (!passed(&state->since, rule->for_ms, now))
            return ALERT_NOTHING;
        state->stage = ALERT_FIRING;
        state->fired_at = state->told_at = now;
        return ALERT_FIRE;
    }
    if (rule->repeat_ms == 0 || !passed(&state->told_at, rule->repeat_ms, now))
        return ALERT_NOTHING;
    state->told_at = now;
    return ALERT_REPEAT;
}

struct wall alert_state_next(const struct alert_state *state, const struct alert_rule *rule) {
    if (state->stage == ALERT_PENDING)
        return (struct wall){state->since.ms + rule->for_ms};
    if (state->stage == ALERT_FIRING && rule->repeat_ms > 0)
        return (struct wall){state->told_at.ms + rule->repeat_ms};
    return WALL_NEVER;
}
