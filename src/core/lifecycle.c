#include "core/lifecycle.h"

#include <assert.h>

#define BIT(state) (1u << STATE_##state)

/* `running` and `retrying` are known to the engine alone: what is stored goes from queued or
 * pending_retry straight to where judgement sent it, so those steps stand here too. A letter that
 * is replayed stays `replaying` through all its attempts. */
static const unsigned followers[STATE_COUNT] = {
    [STATE_QUEUED] = BIT(RUNNING) | BIT(PENDING_RETRY) | BIT(PENDING_REVIEW) | BIT(DISCARDED),
    [STATE_RUNNING] = BIT(QUEUED) | BIT(PENDING_RETRY) | BIT(PENDING_REVIEW) | BIT(DISCARDED),
    [STATE_PENDING_RETRY] = BIT(RETRYING) | BIT(PENDING_REVIEW) | BIT(DISCARDED),
    [STATE_RETRYING] = BIT(PENDING_RETRY) | BIT(PENDING_REVIEW) | BIT(DISCARDED),
    [STATE_PENDING_REVIEW] = BIT(REPLAYING) | BIT(RESOLVED) | BIT(DISCARDED),
    [STATE_REPLAYING] = BIT(PENDING_REVIEW) | BIT(RESOLVED) | BIT(DISCARDED),
    [STATE_RESOLVED] = BIT(REPLAYING) | BIT(PENDING_REVIEW), /* it came back from its origin */
    [STATE_DISCARDED] = 0,
};

static bool is_one_of(enum state state, unsigned states) {
    assert((unsigned)state < STATE_COUNT);
    return (states >> state) & 1u;
}

/* A change that leaves the state alone (a line of history, a mark) is always allowed. */
bool lifecycle_allows(enum state from, enum state to) {
    assert((unsigned)from < STATE_COUNT);
    return from == to || is_one_of(to, followers[from]);
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
