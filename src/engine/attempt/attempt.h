/* attempt: one message in the engine, from its receipt until its result is durable. Its state says
 * what the attempt waits for and which file moves it on:
 *
 *   NEW ──▶ EDITING ──▶ BATCHED ──────────┐      edit.c, call_batch.c: before the handler has it
 *    │ │        │  └──▶ CALLING ──────────┤      the handler's done
 *    │ │        │       LEASED ◀─┐────────┤      lease.c: a worker has it
 *    │ │        │ failed   │     │ durable│
 *    │ │        │          ▼     │        ▼
 *    │ │        │   (COMMITTING) ┘     ANSWERED   jq judges the answer
 *    │ │        │                         │
 *    │ │        │                      REPLYING   the answer is on its way to a sink
 *    │ │        │                         │
 *    │ └────────┴──────────────────▶   ASKING     jq evaluates the rules
 *    │                                    │
 *    │    EDITING, BATCHED, CALLING ◀─ JUDGING    fallback; a batch that is split
 *    │                                    │  └──▶ RETURNING   back to its broker, nothing recorded
 *    ├── SENDING ─────────────────────┐   │       the letter is on its way to its origin
 *    └── no attempt is needed ──────▶ DECIDED
 *                                         │  └──▶ MIRRORING ──┐   published before it is recorded
 *                                         ▼                   │
 *                     settled ◀──── COMMITTING ◀──────────────┤
 *                        ▲               │ failed             │ never taken
 *                        └────────── POSTPONED ◀──────────────┘   submitted until a commit succeeds
 *
 * Steps that have nothing to wait for are passed over: an outcome without jq rules goes from
 * CALLING straight to JUDGING. attempt_to asserts each change against the table in attempt_state.c.
 *
 * While a state waits for an answer from another thread (EDITING, CALLING, REPLYING, MIRRORING,
 * SENDING), the answer posts the attempt to the engine's mailbox, and advance_attempt moves it on
 * according to its state. */
#ifndef ENGINE_ATTEMPT_H
#define ENGINE_ATTEMPT_H

#include <stdbool.h>

enum attempt_state {
    ATTEMPT_NEW,
    ATTEMPT_EDITING,
    ATTEMPT_BATCHED,
    ATTEMPT_CALLING,
    ATTEMPT_LEASED,
    ATTEMPT_ANSWERED,
    ATTEMPT_REPLYING,
    ATTEMPT_ASKING,
    ATTEMPT_JUDGING,
    ATTEMPT_RETURNING,
    ATTEMPT_SENDING,
    ATTEMPT_DECIDED,
    ATTEMPT_MIRRORING,
    ATTEMPT_COMMITTING,
    ATTEMPT_POSTPONED,
    ATTEMPT_STATES
};

/* Why the message is in the engine. */
enum attempt_purpose {
    PURPOSE_CALL,  /* to hand it over, now or through a lease; or a report of such a call */
    PURPOSE_STORE, /* to store it before it is handed over; counted in queue->arriving */
    /* A letter that came back from its origin; also counted in queue->arriving. */
    PURPOSE_COME_BACK,
    PURPOSE_TO_ORIGIN,   /* to send it to its origin; counted in queue->going */
    PURPOSE_ROOM,        /* the message waited for room in its DLQ, which has room now */
    PURPOSE_LATE_LETTER, /* late answer to a lease whose message has become a letter since */
    /* The last process crashed during this attempt, and the message is judged for it. */
    PURPOSE_BLAME,
};

struct attempt;

bool attempt_may(enum attempt_state from, enum attempt_state to);
void attempt_to(struct attempt *attempt, enum attempt_state to);

#endif
