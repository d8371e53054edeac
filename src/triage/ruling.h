/* ruling: what a person decides about letters without sending them anywhere: resolved by hand,
 * discarded, escalated to somebody else, or given to the compensating handler. Always with a why,
 * always audited. */
#ifndef TRIAGE_RULING_H
#define TRIAGE_RULING_H

#include "triage/selection.h"

enum ruling_kind { RULING_RESOLVE, RULING_DISCARD, RULING_ESCALATE, RULING_COMPENSATE };

/* Compensations that fit into one commit: their letters are in memory whole. */
enum { RULING_COMPENSATIONS_MAX = 64 };

struct ruling {
    struct selection selection; /* for ruling_many */
    enum ruling_kind kind;
    struct bytes who, why;
    struct store_keep note; /* for ruling_many: kept in its first commit; no name: none */
    /* RULING_ESCALATE: the id of a triage rule's ticket; empty: receivers are told as of one of its
     * own. */
    struct bytes ticket;
    bool dry_run;
    /* RULING_COMPENSATE: whether letters of this queue can be. */
    bool (*compensates)(void *arg, struct bytes queue);
    void *arg;
};

struct ruling_result {
    uint64_t matched; /* letters that were chosen */
    uint64_t changed; /* … and changed; in a dry run, that would be */
    uint64_t busy;   /* … and left alone: being replayed, or decided by somebody else meanwhile */
    uint64_t unable; /* … and left alone: their queue has no compensate handler */
    struct selection_result walked;
};

const char *ruling_text(enum ruling_kind kind); /* "resolve" "discard" "escalate" "compensate" */

/* One letter, by its own or its message's id (in `queue`, or in any when that is empty). NOT_FOUND;
 * CONFLICT when it is being replayed or decided already. *held_out: the letter as it is now. Waits.
 */
enum status ruling_one(struct triage *triage, const struct ruling *ruling, struct bytes queue,
                       struct bytes id, struct message **held_out, struct err *err);
/* All that the selection chooses, a page and a commit at a time. On trouble half-way the result
 * says how far it came. Waits; its memory does not grow with the selection. */
enum status ruling_many(struct triage *triage, const struct ruling *ruling, struct arena *arena,
                        struct ruling_result *result, struct err *err);

#endif
