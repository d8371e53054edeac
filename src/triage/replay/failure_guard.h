/* failure_guard: the failure guard of a replay: whether it must be aborted (SEMANTICS 12.1). Pure:
 * time is an argument.
 *
 * It must if more than 5 % (and at least 3) of the letters sent in the last 30 s are dead again; or
 * if more than 1 % (and at least 3) of the last 300 sent are dead with the fingerprint that they
 * had before; or if at least as many letters entered the DLQs in the last 30 s as the replay
 * resolved. */
#ifndef TRIAGE_REPLAY_FAILURE_GUARD_H
#define TRIAGE_REPLAY_FAILURE_GUARD_H

#include "base/instant.h"

enum {
    FAILURE_GUARD_SECONDS = 30,
    FAILURE_GUARD_DEAD_LEAST = 3,
    FAILURE_GUARD_DEAD_PERCENT = 5,
    FAILURE_GUARD_LAST_SENT = 300,
    FAILURE_GUARD_SAME_LEAST = 3,
    FAILURE_GUARD_SAME_PERCENT = 1,
};

struct failure_guard_second {
    int64_t number;      /* number of the second, on the monotonic clock */
    uint64_t sent, dead; /* sent in this second, and of those, dead again */
    uint64_t drained, refilled;
};

struct failure_guard {
    struct failure_guard_second seconds[FAILURE_GUARD_SECONDS];
    struct mono since; /* start of counting */
    /* By number of the letter, modulo FAILURE_GUARD_LAST_SENT: died again of the same failure.
     * `sent` is the last number. */
    bool same[FAILURE_GUARD_LAST_SENT];
    uint64_t sent;
};

/* Clears the seconds; the last letters sent are kept. */
void failure_guard_begin(struct failure_guard *relapse, struct mono now);
/* Counts a letter as sent. Returns its number, from 1 on. */
uint64_t failure_guard_sent(struct failure_guard *relapse, struct mono now);
/* Counts a letter that was sent at `sent_at` as dead again. */
void failure_guard_dead(struct failure_guard *relapse, struct mono sent_at, struct mono now);
/* … with the fingerprint that it had before. 0: a letter without a number. */
void failure_guard_same(struct failure_guard *relapse, uint64_t number);
void failure_guard_drained(struct failure_guard *relapse, struct mono now, uint64_t count);
void failure_guard_refilled(struct failure_guard *relapse, struct mono now, uint64_t count);
/* True: the replay must be aborted; `why` gets the reason. */
bool failure_guard_is_here(const struct failure_guard *relapse, struct mono now, struct buf *why);

#endif
