/* lifecycle: the states of a message, and every way from one to another.
 *
 *              take            retry               take
 *   queued ──────────▶ running ──────▶ pending_retry ──▶ retrying ──▶ (as from running)
 *      ▲                │  │  │            ▲                │
 *      └── put_back ────┘  │  │            └─ put_back, ────┘
 *          requeue         │  │               retry
 *                          │  └─ succeeded: forgotten, no state
 *                    die   │
 *   pending_review ◀───────┴─ discard ──▶ discarded ◀─┐
 *     │  ▲  │  │                                      │
 *     │  │  │  └───────────── discard ────────────────┤
 *     │  │  └── resolve ───▶ resolved                 │
 *     │  │                   │  │  ▲                  │
 *     │  ├── come_back_dead ─┘  │  │                  │
 *     │  │         come_back ────┘  │ resolve          │
 *     │  │                │         │                 │
 *     │  └─ die, recall ─ replaying ┴──── discard ────┘
 *     └──── replay ───────▶  │  ▲
 *                            └──┘ take, put_back, retry
 *
 * running and retrying are states of a message in flight. They are never stored: the store has such
 * a message as queued or pending_retry, so a crash gives it again, and what is stored goes straight
 * from there to where the attempt ended. That is why every event that ends an attempt may also
 * start in queued and pending_retry. A letter that is replayed stays `replaying` through all its
 * attempts.
 *
 * Two events happen only before a message is stored in its new state: adopt makes a letter of
 * another system's message, and defer_death makes a letter that was about to be stored wait instead
 * (for room in its DLQ, or for a time that the other system had set).
 *
 * A zeroed envelope is queued. Nothing but the functions below and what decodes stored bytes writes
 * envelope.state; each function asserts that its event is possible in the present state. */
#ifndef CORE_LIFECYCLE_H
#define CORE_LIFECYCLE_H

#include "core/envelope/envelope.h"

enum lifecycle_event {
    LIFECYCLE_TAKE,
    LIFECYCLE_PUT_BACK,
    LIFECYCLE_REQUEUE,
    LIFECYCLE_RETRY,
    LIFECYCLE_DIE,
    LIFECYCLE_DISCARD,
    LIFECYCLE_RESOLVE,
    LIFECYCLE_REPLAY,
    LIFECYCLE_RECALL,
    LIFECYCLE_COME_BACK,
    LIFECYCLE_COME_BACK_DEAD,
    LIFECYCLE_DEFER_DEATH,
    LIFECYCLE_EVENTS
};

/* The state after the event; STATE_COUNT: the event is refused in that state. */
enum state lifecycle_after(enum lifecycle_event event, enum state from);
/* Whether what is stored in one state may be stored in the other: some event that may be stored
 * leads there, or nothing but other fields change. The store refuses every other change. */
bool lifecycle_allows(enum state from, enum state to);

/* It was received or taken, and is in flight: until it is put back, or its attempt ends. */
void lifecycle_take(struct envelope *envelope);
/* As it is stored: in flight, but to be recorded before its attempt (a lease), or not handed over.
 */
void lifecycle_put_back(struct envelope *envelope);
/* It waits as if it had never been attempted. */
void lifecycle_requeue(struct envelope *envelope);
/* It is attempted again, `delay_ms` after `now`; a letter stays replaying. */
void lifecycle_retry(struct envelope *envelope, struct wall now, int64_t delay_ms);
/* It becomes a letter, or its round of replay ends so. */
void lifecycle_die(struct envelope *envelope, struct wall dead_at);
/* The same, but a rule or a person wants nothing more of it. */
void lifecycle_discard(struct envelope *envelope, struct wall dead_at);
void lifecycle_resolve(struct envelope *envelope, enum resolution resolution, struct wall now);
/* A letter is attempted again, from now on. */
void lifecycle_replay(struct envelope *envelope, struct wall now);
/* A replay that did not take place, or was given up: the letter is as it was. */
void lifecycle_recall(struct envelope *envelope);
/* A letter that was resolved by sending it to its origin came back from there, … */
void lifecycle_come_back(struct envelope *envelope, struct wall now); /* … to be attempted */
void lifecycle_come_back_dead(struct envelope *envelope, struct wall dead_at); /* … as a letter */
/* It is no letter after all, but waits: when for, the caller says. Not stored as a letter yet. */
void lifecycle_defer_death(struct envelope *envelope);
/* A new message is another system's letter: pending_review, resolved or discarded. */
void lifecycle_adopt(struct envelope *envelope, enum state as);

/* How a stored message is shown while it is in flight. */
enum state lifecycle_in_flight(enum state stored);
/* A letter is in a DLQ or was: pending_review, replaying, resolved, discarded. */
bool lifecycle_is_letter(enum state state);
/* What `depth` and `cap` count: pending_review and replaying. */
bool lifecycle_counts_in_depth(enum state state);
/* A letter that is over, whose id another message may have: resolved, discarded. */
bool lifecycle_is_decided(enum state state);
/* What is still to be handed over: queued, running, pending_retry, retrying. */
bool lifecycle_is_live(enum state state);

#endif
