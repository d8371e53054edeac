/* breaker: tells an outage from poison, and holds everything while the downstream is down.
 *
 *              failure_rate of min_attempts in window, or
 *              `consecutive` in a row from ≥ 2 messages
 *     CLOSED ────────────────────────────────────────────▶ OPEN ◀─────────────┐
 *        ▲                                                   │ 1 s, doubling   │ a probe failed
 *        │ a round of min(concurrency, 32) succeeded         │                 │
 *        └───────────────────────── HALF_OPEN ◀──────────────┘                 │
 *                                   rounds of 1, 2, 4 … ───────────────────────┘
 *
 * Evidence of an outage is that BREAKER_EVIDENCE distinct messages have failed since the last
 * success (SEMANTICS 4.2). With evidence an opening doubles up to the policy's open_ms. Without it,
 * the few messages that fail may as well be poison: the opening doubles up to BREAKER_DOUBT_MAX_MS,
 * and the arrival of a message that was never attempted ends it, at most once a second.
 *
 * Pure: time comes in, nothing goes out. The caller knows which calls were probes; a new round
 * waits until every probe of a broken one has ended, so that no late answer is taken for one of
 * this round. */
#ifndef CORE_BREAKER_H
#define CORE_BREAKER_H

#include "base/instant.h"
#include "core/outcome.h"
#include "core/policy.h"

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };

enum {
    BREAKER_FIRST_OPEN_MS = 1000,
    BREAKER_ROUND_MAX = 32,
    BREAKER_SLOTS = 20,
    BREAKER_EVIDENCE = 5,             /* distinct messages that failed: an outage */
    BREAKER_DOUBT_MAX_MS = 60 * 1000, /* the longest opening without that evidence */
    BREAKER_ARRIVAL_GAP_MS = 1000,    /* between probes that arrivals cause */
};

/* How an attempt ended, as far as the breaker cares. */
struct breaker_answer {
    uint64_t message; /* tells messages apart */
    bool failed;
    int64_t retry_after_ms; /* ≥ 0: an opening lasts at least that long */
};

struct breaker {
    enum breaker_state state;
    struct mono until;     /* OPEN: when probing may begin */
    struct mono opened_at; /* of the first opening since it was last closed */
    struct mono began;     /* OPEN: when the present opening began … */
    struct mono asked;     /* … and the time that a Retry-After asked for */
    int64_t open_ms;       /* how long the present opening lasts; 0: a person ended it */
    uint32_t round;        /* HALF_OPEN: size of this round … */
    uint32_t round_started; /* … probes handed over (OPEN: of the broken round, not yet ended) … */
    uint32_t round_ok;      /* … and answered well */
    uint32_t row;           /* failures in a row while closed */
    struct mono row_until; /* the latest time that a Retry-After of the row asked for */
    uint64_t failing[BREAKER_EVIDENCE]; /* distinct messages that failed since the last success … */
    uint32_t failing_count;             /* … at most BREAKER_EVIDENCE of them */
    uint32_t slot_attempts[BREAKER_SLOTS]; /* the window, in BREAKER_SLOTS parts */
    uint32_t slot_failures[BREAKER_SLOTS];
    int64_t slot;
};

/* What an outcome says about the downstream's health (SEMANTICS 4.1). For lease and callback
 * handlers, and for what a stream worker said, `verdict` decides: what was judged retry is a
 * failure. */
bool breaker_is_failure(enum handler_class handler, const struct outcome *outcome,
                        enum verdict verdict);

/* An ordinary attempt ended. While CLOSED it counts for the row and the window; otherwise it was
 * under way when the breaker opened, and is evidence alone. Returns true when this opened it. */
bool breaker_note(struct breaker *breaker, const struct breaker_policy *policy, struct mono now,
                  struct breaker_answer answer);
/* A message failed of which breaker_note and breaker_probe_ended are not told: another of its batch
 * is. It is evidence alone. */
void breaker_failed_too(struct breaker *breaker, uint64_t message);
/* Whether there is evidence of an outage, now that `message` has failed as well. */
bool breaker_is_outage(const struct breaker *breaker, uint64_t message);
/* From when on the arrival of a message that was never attempted ends an opening: OPEN without
 * evidence, when a Retry-After allows it; MONO_NEVER: arrivals change nothing. */
struct mono breaker_arrival_from(const struct breaker *breaker);
/* Such a message is there, and that time has come. */
void breaker_arrived(struct breaker *breaker, struct mono now);
/* A person wants it to be tried: the present opening ends, and doubling begins again. */
void breaker_resume(struct breaker *breaker, struct mono now);
/* How many probes may be handed over now (0 while CLOSED or before `until`). OPEN becomes HALF_OPEN
 * when its time has come. */
uint32_t breaker_probes_wanted(struct breaker *breaker, const struct breaker_policy *policy,
                               struct mono now);
void breaker_probe_started(struct breaker *breaker);
/* A probe that never ran to an end (interrupted): its place in the round is free again. */
void breaker_probe_withdrawn(struct breaker *breaker);
/* `concurrency` bounds the last round. Returns the new state. */
enum breaker_state breaker_probe_ended(struct breaker *breaker, const struct breaker_policy *policy,
                                       struct mono now, uint32_t concurrency,
                                       struct breaker_answer answer);
const char *breaker_state_text(enum breaker_state state); /* "closed" "open" "half_open" */

#endif
