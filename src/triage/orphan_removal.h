/* orphan_removal: buries or discards messages that wait in a queue which left the configuration
 * (SEMANTICS 4.8). The engine has no such queue and takes nothing from it, so the store is changed
 * here. */
#ifndef TRIAGE_ORPHAN_REMOVAL_H
#define TRIAGE_ORPHAN_REMOVAL_H

#include "triage/audit.h"

enum { ORPHAN_REMOVALS_MAX = 64 };

struct orphan_order {
    bool bury; /* else they are discarded */
    struct bytes why;
    const struct audit_entry *entry; /* in the commit, if something is changed */
};

/* Makes letters of up to ORPHAN_REMOVALS_MAX messages, in the DLQ "<queue>.dlq" or the one that
 * they wait for room in. each[i].status tells what became of seqs[i]: OK, NOT_FOUND when it is not
 * held any more, CONFLICT when it does not wait, CORRUPT or IO when it cannot be read. A buried
 * message closes its key: whether the queue was in order is not known any more. Waits. */
enum status orphan_remove(struct triage *triage, const struct orphan_order *order,
                          const uint64_t *seqs, size_t count, struct err *each, struct err *err);

#endif
