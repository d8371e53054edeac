/* decision: a decision of a person or a triage rule about letters: resolve by hand, discard,
 * escalate, or compensate. Every decision has a why and an audit entry. */
#ifndef TRIAGE_DECIDE_DECISION_H
#define TRIAGE_DECIDE_DECISION_H

#include "triage/query/selection.h"

enum decision_kind { DECISION_RESOLVE, DECISION_DISCARD, DECISION_ESCALATE, DECISION_COMPENSATE };

/* Compensations in one commit; their whole letters are in memory. */
enum { DECISION_COMPENSATIONS_MAX = 64 };

struct letter_decision {
    struct selection selection; /* for decision_many */
    enum decision_kind kind;
    struct bytes who, why;
    struct store_keep note; /* for decision_many: stored in its first commit; no name: none */
    /* DECISION_ESCALATE: id of a triage rule's ticket; empty: a ticket of its own. */
    struct bytes ticket;
    bool dry_run;
    /* DECISION_COMPENSATE: whether the queue has a compensating handler. */
    bool (*compensates)(void *arg, struct bytes queue);
    void *arg;
};

struct decision_result {
    uint64_t matched; /* selected letters */
    uint64_t changed; /* changed; in a dry run, that would be changed */
    uint64_t busy;    /* unchanged: being replayed, or changed at the same time */
    uint64_t unable;  /* unchanged: their queue has no compensate handler */
    struct selection_result walked;
};

const char *
decision_text(enum decision_kind kind); /* "resolve" "discard" "escalate" "compensate" */

/* Decides about one letter, by its own or its message's id (in `queue`, or in any if that is
 * empty). NOT_FOUND; CONFLICT: it is being replayed, or is decided already. *held_out: the letter
 * after the change. Waits for the store. */
enum status decision_one(struct triage *triage, const struct letter_decision *ruling,
                         struct bytes queue, struct bytes id, struct message **held_out,
                         struct err *err);
/* Decides about all selected letters, a page and a commit at a time. After an error the result says
 * how many were changed. Waits for the store; its memory does not grow with the selection. */
enum status decision_many(struct triage *triage, const struct letter_decision *ruling,
                          struct arena *arena, struct decision_result *result, struct err *err);

#endif
