/* orphan_removal: buries or discards waiting messages of a queue that is no longer configured
 * (SEMANTICS 4.8). The engine does not run such a queue, so the store is changed directly. */
#ifndef TRIAGE_DECIDE_ORPHAN_REMOVAL_H
#define TRIAGE_DECIDE_ORPHAN_REMOVAL_H

#include "triage/query/audit.h"

enum { ORPHAN_REMOVALS_MAX = 64 };

struct orphan_order {
    bool bury; /* otherwise discard */
    struct bytes why;
    const struct audit_entry *entry; /* part of the commit, if there is one */
};

/* Makes letters of up to ORPHAN_REMOVALS_MAX messages, in the DLQ "<queue>.dlq" or the one for
 * whose room they wait. each[i].status is the result for seqs[i]: OK; NOT_FOUND: no longer held;
 * CONFLICT: not waiting; CORRUPT or IO: cannot be read. A buried message closes its key, since it
 * is unknown whether the queue was ordered. Waits for the store. */
enum status orphan_remove(struct triage *triage, const struct orphan_order *order,
                          const uint64_t *seqs, size_t count, struct err *each, struct err *err);

#endif
