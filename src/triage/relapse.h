/* relapse: whether a replay makes things worse (SEMANTICS 12.1). Pure: time is an argument.
 *
 * Of the letters sent in the last 30 s more than 5 %, and at least 3, are dead again; or of the
 * last 300 sent more than 1 %, and at least 3, are dead with the fingerprint that they had before;
 * or in the last 30 s at least as many letters came into the DLQs as the replay took out of them.
 */
#ifndef TRIAGE_RELAPSE_H
#define TRIAGE_RELAPSE_H

#include "base/instant.h"

enum {
    RELAPSE_SECONDS = 30,
    RELAPSE_DEAD_LEAST = 3,
    RELAPSE_DEAD_PERCENT = 5,
    RELAPSE_LAST_SENT = 300,
    RELAPSE_SAME_LEAST = 3,
    RELAPSE_SAME_PERCENT = 1,
};

struct relapse_second {
    int64_t number;      /* of the second, on the monotonic clock */
    uint64_t sent, dead; /* sent in it, and how many of those are dead again */
    uint64_t drained, refilled;
};

struct relapse {
    struct relapse_second seconds[RELAPSE_SECONDS];
    struct mono since; /* what is counted */
    /* By the letters' numbers, the last of which is `sent`: dead again of the same. */
    bool same[RELAPSE_LAST_SENT];
    uint64_t sent;
};

/* Forgets the seconds; the last letters sent stay known. */
void relapse_begin(struct relapse *relapse, struct mono now);
/* One more letter is sent. Returns its number, from 1 on. */
uint64_t relapse_sent(struct relapse *relapse, struct mono now);
/* One that was sent at `sent_at` is dead again. */
void relapse_dead(struct relapse *relapse, struct mono sent_at, struct mono now);
/* … and has the fingerprint that it had before it was sent. 0: a letter without a number. */
void relapse_same(struct relapse *relapse, uint64_t number);
void relapse_drained(struct relapse *relapse, struct mono now, uint64_t count);
void relapse_refilled(struct relapse *relapse, struct mono now, uint64_t count);
/* True: it must stop; `why` says so in words. */
bool relapse_is_here(const struct relapse *relapse, struct mono now, struct buf *why);

#endif
