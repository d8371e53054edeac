/* triage_pick: selects the letters of one run of a triage rule: the oldest that match. */
#ifndef TRIAGE_RULES_TRIAGE_PICK_H
#define TRIAGE_RULES_TRIAGE_PICK_H

#include <stdatomic.h>

#include "triage/replay/replays.h"
#include "triage/rules/triage_rule.h"

/* The request. */
struct triage_pick {
    struct triage *triage;
    struct replays *replays; /* letters of active replays are left out */
    const struct triage_dlq *dlq;
    const struct triage_rule *rule;
    /* Whether the queue has a compensating handler. */
    bool (*compensates)(void *arg, struct bytes queue);
    void *arg;
    const atomic_bool *ending; /* NULL: never */
    struct wall now;
};

/* The facts that decide the order. */
struct triage_place {
    uint64_t seq;
    struct bytes queue, key;
};

/* Letters in the order of their latest death, so that one that keeps dying does not delay the
 * others; letters of one key in the order in which they were stored. */
struct triage_picked {
    struct bytes *ids;           /* of letters, in the arena */
    struct message **whole;      /* archive: the whole letters; otherwise NULL */
    struct triage_place *places; /* of the same letters */
    size_t count;
    uint64_t skipped;         /* letters for which the `where` failed … */
    struct err first_skipped; /* … and the first error */
};

/* Selects letters in pending_review that are not escalated and in no active replay. May wait for
 * the store. Free *out in any case. */
enum status triage_pick(const struct triage_pick *pick, struct arena *arena,
                        struct triage_picked *out, struct err *err);
void triage_picked_free(struct triage_picked *picked);

#endif
