/* replay: names of states and outcomes. */
#include "triage/replay/replay.h"

#include <assert.h>

#define TEXT_OF_STATE(code, text)      [REPLAY_##code] = text,
#define TEXT_OF_OUTCOME(code, c, text) [REPLAYED_##code] = text,
#define CHAR_OF_OUTCOME(code, c, text) [REPLAYED_##code] = c,

static const char *const states[] = {REPLAY_STATE_LIST(TEXT_OF_STATE)};
static const char *const outcomes[] = {REPLAY_OUTCOME_LIST(TEXT_OF_OUTCOME)};
static const char chars[] = {REPLAY_OUTCOME_LIST(CHAR_OF_OUTCOME)};

const char *replay_state_text(enum replay_state state) {
    assert(state < REPLAY_STATE_COUNT);
    return states[state];
}

bool replay_state_parse(struct bytes text, enum replay_state *out) {
    for (int i = 0; i < REPLAY_STATE_COUNT; i++)
        if (bytes_is(text, states[i])) {
            *out = (enum replay_state)i;
            return true;
        }
    return false;
}

const char *replay_outcome_text(enum replay_outcome outcome) {
    assert(outcome < REPLAY_OUTCOME_COUNT);
    return outcomes[outcome];
}

char replay_outcome_char(enum replay_outcome outcome) {
    assert(outcome < REPLAY_OUTCOME_COUNT);
    return chars[outcome];
}

bool replay_outcome_of_char(char c, enum replay_outcome *out) {
    for (int i = 0; i < REPLAY_OUTCOME_COUNT; i++)
        if (chars[i] == c) {
            *out = (enum replay_outcome)i;
            return true;
        }
    return false;
}

static uint64_t sum(const struct replay_counts *counts, int from, int to) {
    uint64_t total = 0;
    for (int i = from; i <= to; i++)
        total += counts->by[i];
    return total;
}

uint64_t replay_sent(const struct replay_counts *counts) {
    return sum(counts, REPLAYED_SENT, REPLAYED_DISCARDED);
}

uint64_t replay_skipped(const struct replay_counts *counts) {
    return sum(counts, REPLAYED_STALE, REPLAYED_ESCALATED);
}
