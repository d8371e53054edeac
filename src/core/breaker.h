/* breaker: tells an outage from poison, and holds everything while the downstream is down.
 *
 *              failure_rate of min_attempts in window, or
 *              `consecutive` in a row from ≥ 2 messages
 *     CLOSED ────────────────────────────────────────────▶ OPEN ◀─────────────┐
 *        ▲                                                   │ 1 s, doubling   │ a probe failed
 *        │ a round of min(concurrency, 32) succeeded         │ up to open_ms   │
 *        └───────────────────────── HALF_OPEN ◀──────────────┘                 │
 *                                   rounds of 1, 2, 4 … ───────────────────────┘
 *
 * While only two messages have failed, they may as well be poison as an outage: then the opening is
 * not doubled, and a healthy message that comes to a quiet queue is probed within a second.
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
    BREAKER_FEW = 2, /* messages that fail side by side without being an outage for sure */
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
    int64_t open_ms;       /* how long the present opening lasts */
    uint32_t round;        /* HALF_OPEN: size of this round … */
    uint32_t round_started; /* … probes handed over (OPEN: of the broken round, not yet ended) … */
    uint32_t round_ok;      /* … and answered well */
    uint32_t row;           /* failures in a row while closed */
    struct mono row_until;         /* the latest time that a Retry-After of the row asked for */
    uint64_t failing[BREAKER_FEW]; /* the first messages of the row, and of failed probes since … */
    uint32_t failing_count; /* … and how many there are; more than a few: BREAKER_FEW + 1 */
    uint32_t slot_attempts[BREAKER_SLOTS]; /* the window, in BREAKER_SLOTS parts */
    uint32_t slot_failures[BREAKER_SLOTS];
    int64_t slot;
};

/* What an outcome says about the downstream's health (SEMANTICS 4.1). For lease and callback
 * handlers, and for what a stream worker said, `verdict` decides: what was judged retry is a
 * failure. */
bool breaker_is_failure(enum handler_class handler, const struct outcome *outcome,
                        enum verdict verdict);

/* An ordinary attempt ended while CLOSED. Returns true when this opened it. */
bool breaker_note(struct breaker *breaker, const struct breaker_policy *policy, struct mono now,
                  struct breaker_answer answer);
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
