#include "core/lifecycle.h"

#include <assert.h>

#define BIT(state) (1u << STATE_##state)

static_assert(STATE_QUEUED == 0, "a zeroed envelope is that of a new message");

/* One more than the state that follows; 0: refused. */
#define TO(state) (STATE_##state + 1)
#define FROM_LIVE(to)                                                                              \
    [STATE_QUEUED] = (to), [STATE_RUNNING] = (to), [STATE_PENDING_RETRY] = (to),                   \
    [STATE_RETRYING] = (to)

static const unsigned char after[LIFECYCLE_EVENTS][STATE_COUNT] = {
    /* A broker may give again, as it is, what was handed back to it. */
    [LIFECYCLE_TAKE] = {[STATE_QUEUED] = TO(RUNNING),
                        [STATE_RUNNING] = TO(RUNNING),
                        [STATE_PENDING_RETRY] = TO(RETRYING),
                        [STATE_RETRYING] = TO(RETRYING),
                        [STATE_REPLAYING] = TO(REPLAYING)},
    [LIFECYCLE_PUT_BACK] = {[STATE_QUEUED] = TO(QUEUED),
                            [STATE_RUNNING] = TO(QUEUED),
                            [STATE_PENDING_RETRY] = TO(PENDING_RETRY),
                            [STATE_RETRYING] = TO(PENDING_RETRY),
                            [STATE_REPLAYING] = TO(REPLAYING)},
    [LIFECYCLE_REQUEUE] = {[STATE_QUEUED] = TO(QUEUED), [STATE_RUNNING] = TO(QUEUED)},
    [LIFECYCLE_RETRY] = {FROM_LIVE(TO(PENDING_RETRY)), [STATE_REPLAYING] = TO(REPLAYING)},
    /* From pending_review: the late answer to a lease is about what is a letter by now. */
    [LIFECYCLE_DIE] = {FROM_LIVE(TO(PENDING_REVIEW)), [STATE_REPLAYING] = TO(PENDING_REVIEW),
                       [STATE_PENDING_REVIEW] = TO(PENDING_REVIEW)},
    [LIFECYCLE_DISCARD] = {FROM_LIVE(TO(DISCARDED)), [STATE_REPLAYING] = TO(DISCARDED),
                           [STATE_PENDING_REVIEW] = TO(DISCARDED)},
    [LIFECYCLE_RESOLVE] = {[STATE_PENDING_REVIEW] = TO(RESOLVED), [STATE_REPLAYING] = TO(RESOLVED)},
    [LIFECYCLE_REPLAY] = {[STATE_PENDING_REVIEW] = TO(REPLAYING)},
    [LIFECYCLE_RECALL] = {[STATE_REPLAYING] = TO(PENDING_REVIEW)},
    [LIFECYCLE_COME_BACK] = {[STATE_RESOLVED] = TO(REPLAYING)},
    [LIFECYCLE_COME_BACK_DEAD] = {[STATE_RESOLVED] = TO(PENDING_REVIEW)},
    [LIFECYCLE_DEFER_DEATH] = {[STATE_PENDING_REVIEW] = TO(PENDING_RETRY)},
};

enum state lifecycle_after(enum lifecycle_event event, enum state from) {
    assert((unsigned)event < LIFECYCLE_EVENTS && (unsigned)from < STATE_COUNT);
    return after[event][from] ? (enum state)(after[event][from] - 1) : STATE_COUNT;
}

bool lifecycle_allows(enum state from, enum state to) {
    assert((unsigned)to < STATE_COUNT);
    bool allowed = from == to;
    for (int event = 0; event < LIFECYCLE_EVENTS && !allowed; event++)
        allowed = event != LIFECYCLE_DEFER_DEATH &&
                  lifecycle_after((enum lifecycle_event)event, from) == to;
    return allowed;
}

/* ---- events ---- */

static void happen(struct envelope *envelope, enum lifecycle_event event) {
    enum state to = lifecycle_after(event, envelope->state);
    assert(to != STATE_COUNT);
    envelope->state = to;
}

static void unschedule(struct envelope *envelope) {
    envelope->next_attempt_at = WALL_NEVER;
    envelope->delay_ms = 0;
}

static void schedule(struct envelope *envelope, struct wall now, int64_t delay_ms) {
    envelope->next_attempt_at.ms = now.ms + delay_ms;
    envelope->delay_ms = delay_ms;
}

void lifecycle_take(struct envelope *envelope) {
    happen(envelope, LIFECYCLE_TAKE);
}

void lifecycle_put_back(struct envelope *envelope) {
    happen(envelope, LIFECYCLE_PUT_BACK);
}

void lifecycle_requeue(struct envelope *envelope) {
    happen(envelope, LIFECYCLE_REQUEUE);
    unschedule(envelope);
}

void lifecycle_retry(struct envelope *envelope, struct wall now, int64_t delay_ms) {
    happen(envelope, LIFECYCLE_RETRY);
    schedule(envelope, now, delay_ms);
}

void lifecycle_die(struct envelope *envelope, struct wall dead_at) {
    happen(envelope, LIFECYCLE_DIE);
    envelope->dead_at = dead_at;
    unschedule(envelope);
}

void lifecycle_discard(struct envelope *envelope, struct wall dead_at) {
    happen(envelope, LIFECYCLE_DISCARD);
    envelope->dead_at = dead_at;
    unschedule(envelope);
}

void lifecycle_resolve(struct envelope *envelope, enum resolution resolution, struct wall now) {
    assert(resolution != RESOLUTION_NONE);
    happen(envelope, LIFECYCLE_RESOLVE);
    envelope->resolution = resolution;
    envelope->resolved_at = now;
    unschedule(envelope);
}

void lifecycle_replay(struct envelope *envelope, struct wall now) {
    happen(envelope, LIFECYCLE_REPLAY);
    schedule(envelope, now, 0);
}

void lifecycle_recall(struct envelope *envelope) {
    happen(envelope, LIFECYCLE_RECALL);
    unschedule(envelope);
}

static void unresolve(struct envelope *envelope) {
    envelope->resolution = RESOLUTION_NONE;
    envelope->resolved_at = WALL_NEVER;
}

void lifecycle_come_back(struct envelope *envelope, struct wall now) {
    happen(envelope, LIFECYCLE_COME_BACK);
    unresolve(envelope);
    schedule(envelope, now, 0);
}

void lifecycle_come_back_dead(struct envelope *envelope, struct wall dead_at) {
    happen(envelope, LIFECYCLE_COME_BACK_DEAD);
    unresolve(envelope);
    envelope->dead_at = dead_at;
}

void lifecycle_defer_death(struct envelope *envelope) {
    happen(envelope, LIFECYCLE_DEFER_DEATH);
    envelope->letter_id = BYTES_NONE;
    envelope->dead_at = WALL_NEVER;
}

void lifecycle_adopt(struct envelope *envelope, enum state as) {
    assert(envelope->state == STATE_QUEUED && lifecycle_is_letter(as) && as != STATE_REPLAYING);
    envelope->state = as;
}

/* ---- what a state means ---- */

enum state lifecycle_in_flight(enum state stored) {
    return lifecycle_is_live(stored) ? lifecycle_after(LIFECYCLE_TAKE, stored) : stored;
}

static bool is_one_of(enum state state, unsigned states) {
    assert((unsigned)state < STATE_COUNT);
    return (states >> state) & 1u;
}

bool lifecycle_is_letter(enum state state) {
    return is_one_of(state, BIT(PENDING_REVIEW) | BIT(REPLAYING) | BIT(RESOLVED) | BIT(DISCARDED));
}

bool lifecycle_counts_in_depth(enum state state) {
    return is_one_of(state, BIT(PENDING_REVIEW) | BIT(REPLAYING));
}

bool lifecycle_is_live(enum state state) {
    return is_one_of(state, BIT(QUEUED) | BIT(RUNNING) | BIT(PENDING_RETRY) | BIT(RETRYING));
}

bool lifecycle_is_decided(enum state state) {
    return state == STATE_RESOLVED || state == STATE_DISCARDED;
}
