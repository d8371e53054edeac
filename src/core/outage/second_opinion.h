/* second_opinion: one refused message does not halt its queue (SEMANTICS 4.7).
 *
 * A preset's `halt` (401, 403, quota) may be the fault of one message or of the credentials. Before
 * the queue is halted, up to OPINION_ASKED_MAX other messages are handed over, one at a time.
 *
 *             a message is refused
 *     NONE ───────────────────────────▶ ASKING ──── none succeeded, or none ───▶ the queue halts
 *      ▲ ▲                               │  │       could be handed over
 *      │ └── no answer proved anything ──┘  │ one succeeded
 *      │                                    ▼
 *      └── the refused message was ──── CONFIRMING
 *          handed over once more
 *
 * Hand-overs are numbered as they begin. A success counts for a refusal only if its hand-over began
 * after the refusal. After a resume, or after a restart, refused messages wait in stage NONE until
 * another message has succeeded.
 *
 * Pure: time comes in, nothing goes out. */
#ifndef CORE_OUTAGE_SECOND_OPINION_H
#define CORE_OUTAGE_SECOND_OPINION_H

#include "base/instant.h"

enum {
    OPINION_ASKED_MAX = 3,     /* other messages that are tried */
    OPINION_RECEIVE_MS = 1000, /* time in which messages may be received for it */
    OPINION_WAIT_MS =
        5 * 1000, /* time after which the queue halts if no message could be handed over */
    OPINION_DEATHS_MAX = 3,             /* refused messages that were dead-lettered … */
    OPINION_DEATHS_MS = 10 * 60 * 1000, /* … within this time halt the queue */
};

enum opinion_stage { OPINION_NONE, OPINION_ASKING, OPINION_CONFIRMING };

/* What a hand-over proves about the queue's credentials. */
enum opinion_answer {
    OPINION_SUCCESS, /* they are accepted */
    OPINION_FAILURE, /* it was refused as well, or failed for its own reason */
    OPINION_NOTHING, /* a failure of SEMANTICS 4.1, an interruption, another handler's answer */
};

/* The next step of the queue. */
enum opinion_step {
    OPINION_RUN,     /* as usual */
    OPINION_ASK,     /* hand over one other message, and nothing else */
    OPINION_CONFIRM, /* hand over a refused message, and nothing else */
    OPINION_HALT,
};

/* A message that was refused again and dead-lettered. */
struct opinion_death {
    uint64_t message; /* a hash of its id */
    struct mono at;
};

struct second_opinion {
    enum opinion_stage stage;
    uint64_t since;      /* the last hand-over that had begun when the check began */
    uint64_t refused_at; /* … and when a message was last refused */
    uint64_t succeeded;  /* the last-begun hand-over that succeeded; 0: none */
    uint32_t answers;    /* of this check */
    bool failed;         /* one of them was OPINION_FAILURE */
    bool held;           /* the times below start anew */
    struct mono receive_until, wait_until;
    struct opinion_death deaths[OPINION_DEATHS_MAX]; /* the latest, oldest first … */
    uint32_t death_count;                            /* … and how many there are */
};

/* A message was refused; `begun` hand-overs have begun by now. With `check`, a check begins unless
 * one is under way; without it (the queue stands still) the refusal is noted alone. */
void opinion_refused(struct second_opinion *opinion, uint64_t begun, struct mono now, bool check);
/* The hand-over with this number ended. */
void opinion_answered(struct second_opinion *opinion, uint64_t number, enum opinion_answer answer,
                      struct mono now);
/* Call it again when something changed, and at opinion_next_wake. */
enum opinion_step opinion_step(struct second_opinion *opinion, struct mono now);
/* Nothing may be handed over for another reason (an open breaker, no free slot, a store that cannot
 * commit): the time in which a message may be handed over starts anew at the next opinion_step. */
void opinion_hold(struct second_opinion *opinion);
/* CONFIRMING has ended: the refused message was handed over, or no longer exists. */
void opinion_confirmed(struct second_opinion *opinion);
/* True when another message has succeeded since a refusal, before which `begun` hand-overs had
 * begun: the message is then dead-lettered if it is refused again. */
bool opinion_proves(const struct second_opinion *opinion, uint64_t begun);
/* False while nothing may be received from the source. */
bool opinion_receives(const struct second_opinion *opinion, struct mono now);
/* A message that was refused again is dead-lettered; one that was replayed and refused again counts
 * once. True: the queue halts for it. After a restart the earlier deaths are passed again, oldest
 * first, with their times. */
bool opinion_died(struct second_opinion *opinion, uint64_t message, struct mono at);
/* The queue was halted or resumed. Only what begins from now on counts. */
void opinion_reset(struct second_opinion *opinion, uint64_t begun);
/* MONO_NEVER: time alone does not change opinion_step's result. */
struct mono opinion_next_wake(const struct second_opinion *opinion, struct mono now);

#endif
