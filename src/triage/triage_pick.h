/* triage_pick: the letters of one run of a triage rule: the oldest that match. */
#ifndef TRIAGE_TRIAGE_PICK_H
#define TRIAGE_TRIAGE_PICK_H

#include <stdatomic.h>

#include "triage/replays.h"
#include "triage/triage_rule.h"

/* What is asked. */
struct triage_pick {
    struct triage *triage;
    struct replays *replays; /* what these have is left alone */
    const struct triage_dlq *dlq;
    const struct triage_rule *rule;
    /* Whether letters of this queue can be compensated. */
    bool (*compensates)(void *arg, struct bytes queue);
    void *arg;
    const atomic_bool *ending; /* NULL: it never is */
    struct wall now;
};

/* What tells whose turn it is. */
struct triage_place {
    uint64_t seq;
    struct bytes queue, key;
};

/* Letters in the order of their last death, so that one that keeps dying does not stand in the way
 * of the others; those of one key in the order in which they were put. */
struct triage_picked {
    struct bytes *ids;           /* of letters, in the arena */
    struct message **whole;      /* archive: the letters themselves; else NULL */
    struct triage_place *places; /* of the same letters */
    size_t count;
    uint64_t skipped;         /* letters on which the `where` failed … */
    struct err first_skipped; /* … and how the first did */
};

/* Letters in pending_review that nobody escalated and no replay has. May wait. Free *out in any
 * case. */
enum status triage_pick(const struct triage_pick *pick, struct arena *arena,
                        struct triage_picked *out, struct err *err);
void triage_picked_free(struct triage_picked *picked);

#endif
