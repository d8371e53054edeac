/* breaker: distinguishes an outage from poison messages, and stops hand-overs during an outage.
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
 * Pure: time is an argument. The caller knows which calls were probes; a new round waits until
 * every probe of a broken one has ended, so that no late answer is counted in the wrong round. */
#ifndef CORE_OUTAGE_BREAKER_H
#define CORE_OUTAGE_BREAKER_H

#include "base/instant.h"
#include "core/outcome.h"
#include "core/policy.h"

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };

enum {
    BREAKER_FIRST_OPEN_MS = 1000,
    BREAKER_ROUND_MAX = 32,
    BREAKER_SLOTS = 20,
    BREAKER_EVIDENCE = 5,             /* distinct failed messages that are evidence of an outage */
    BREAKER_DOUBT_MAX_MS = 60 * 1000, /* longest opening without evidence */
    BREAKER_ARRIVAL_GAP_MS = 1000,    /* between probes caused by arrivals */
};

/* The end of an attempt, as the breaker needs it. */
struct breaker_answer {
    uint64_t message; /* identifies the message */
    bool failed;
    int64_t retry_after_ms; /* ≥ 0: an opening lasts at least that long */
};

struct breaker {
    enum breaker_state state;
    struct mono until;     /* OPEN: earliest time of a probe */
    struct mono opened_at; /* first opening since it was last closed */
    struct mono began;     /* OPEN: start of the present opening … */
    struct mono asked;     /* … and the time requested by a Retry-After */
    int64_t open_ms;       /* length of the present opening; 0: ended by a person */
    uint32_t round;        /* HALF_OPEN: size of this round … */
    uint32_t round_started; /* … probes handed over (OPEN: of the broken round, not yet ended) … */
    uint32_t round_ok;      /* … and succeeded */
    uint32_t row;           /* consecutive failures while closed */
    struct mono row_until;              /* the latest time requested by a Retry-After of these */
    uint64_t failing[BREAKER_EVIDENCE]; /* distinct messages that failed since the last success … */
    uint32_t failing_count;             /* … at most BREAKER_EVIDENCE of them */
    uint32_t slot_attempts[BREAKER_SLOTS]; /* the window, in BREAKER_SLOTS parts */
    uint32_t slot_failures[BREAKER_SLOTS];
    int64_t slot;
};

/* Whether an outcome speaks against the downstream (SEMANTICS 4.1). For lease and callback
 * handlers, and for reports of a stream worker, `verdict` decides: a retry is a failure. */
bool breaker_is_failure(enum handler_class handler, const struct outcome *outcome,
                        enum verdict verdict);

/* An ordinary attempt ended. While CLOSED it counts in the window and in the consecutive failures;
 * otherwise it was in flight when the breaker opened, and is only evidence. Returns true if this
 * opened it. */
bool breaker_note(struct breaker *breaker, const struct breaker_policy *policy, struct mono now,
                  struct breaker_answer answer);
/* A further message of a batch failed, of which only one is passed to breaker_note or
 * breaker_probe_ended. It is only evidence. */
void breaker_failed_too(struct breaker *breaker, uint64_t message);
/* Whether there is evidence of an outage, now that `message` has failed as well. */
bool breaker_is_outage(const struct breaker *breaker, uint64_t message);
/* The time from which on the arrival of a never-attempted message ends an opening: OPEN without
 * evidence, if a Retry-After allows it; MONO_NEVER: arrivals change nothing. */
struct mono breaker_arrival_from(const struct breaker *breaker);
/* Such a message has arrived, and that time has come. */
void breaker_arrived(struct breaker *breaker, struct mono now);
/* A person resumed the queue: the present opening ends, and doubling starts again. */
void breaker_resume(struct breaker *breaker, struct mono now);
/* The number of probes that may be handed over now (0 while CLOSED or before `until`). OPEN becomes
 * HALF_OPEN when its time has come. */
uint32_t breaker_probes_wanted(struct breaker *breaker, const struct breaker_policy *policy,
                               struct mono now);
void breaker_probe_started(struct breaker *breaker);
/* A probe was interrupted: its place in the round is free again. */
void breaker_probe_withdrawn(struct breaker *breaker);
/* `concurrency` bounds the last round. Returns the new state. */
enum breaker_state breaker_probe_ended(struct breaker *breaker, const struct breaker_policy *policy,
                                       struct mono now, uint32_t concurrency,
                                       struct breaker_answer answer);
const char *breaker_state_text(enum breaker_state state); /* "closed" "open" "half_open" */

#endif
