/* relapse: whether a replay makes things worse (SEMANTICS 12.1). Pure: time is an argument.
 *
 * Of the letters sent in the last 30 s more than 5 %, and at least 3, are dead again; or in the
 * last 30 s at least as many letters came into the DLQs as the replay took out of them. */
#ifndef TRIAGE_RELAPSE_H
#define TRIAGE_RELAPSE_H

#include "base/instant.h"

enum {
    RELAPSE_SECONDS = 30,
    RELAPSE_DEAD_LEAST = 3,
    RELAPSE_DEAD_PERCENT = 5,
};

struct relapse_second {
    int64_t number;      /* of the second, on the monotonic clock */
    uint64_t sent, dead; /* sent in it, and how many of those are dead again */
    uint64_t drained, refilled;
};

struct relapse {
    struct relapse_second seconds[RELAPSE_SECONDS];
    struct mono since; /* what is counted */
};

/* Forgets everything. */
void relapse_begin(struct relapse *relapse, struct mono now);
void relapse_sent(struct relapse *relapse, struct mono now, uint64_t count);
/* One that was sent at `sent_at` is dead again. */
void relapse_dead(struct relapse *relapse, struct mono sent_at, struct mono now);
void relapse_drained(struct relapse *relapse, struct mono now, uint64_t count);
void relapse_refilled(struct relapse *relapse, struct mono now, uint64_t count);
/* True: it must stop; `why` says so in words. */
bool relapse_is_here(const struct relapse *relapse, struct mono now, struct buf *why);

#endif
