/* retention: letters that were kept for long enough leave, the archive first.
 *
 * Resolved and discarded letters are written to the DLQ's archive, if it has one, and deleted once
 * that is on disk for good. Unresolved ones are touched only where the policy says so: archived,
 * then marked resolved / expired, and from then on treated as resolved. A crash at any point leaves
 * a letter in the store, in the archive, or in both; never in neither. Every step is audited. */
#ifndef TRIAGE_RETENTION_H
#define TRIAGE_RETENTION_H

#include <stdatomic.h>

#include "triage/triage.h"

enum retention_of {
    RETENTION_UNRESOLVED, /* since dead_at */
    RETENTION_RESOLVED,   /* since resolved_at */
    RETENTION_DISCARDED,  /* since it was decided, or dead_at where a rule discarded it */
    RETENTION_COUNT
};

struct retention_rule {
    struct bytes dlq;
    struct bytes archive;             /* "file:…"; empty: none. Needed for unresolved ones */
    int64_t keep_ms[RETENTION_COUNT]; /* RETENTION_NEVER: as long as the store is */
};
#define RETENTION_NEVER INT64_MAX

struct retention_options {
    struct triage *triage;
    struct bytes base_dir; /* what relative archives are relative to */
    /* What holds at this moment, a rule for each DLQ; texts in the arena, or as good as for ever.
     */
    size_t (*rules)(void *arg, struct arena *arena, struct retention_rule **out);
    void *arg;
};

/* Everything that is due for one rule, a page and a commit at a time, until `ending` (NULL: it
 * never is). *gone: letters that left or expired. Those that cannot be read stay, and the log says
 * so. Waits. */
enum status retention_sweep(struct triage *triage, struct bytes base_dir,
                            const struct retention_rule *rule, const atomic_bool *ending,
                            uint64_t *gone, struct err *err);
/* How long may pass between two looks at these rules. */
int64_t retention_interval_ms(const struct retention_rule *rules, size_t count);

struct retention;

/* Starts a thread that sweeps now and then. */
struct retention *retention_start(const struct retention_options *options);
void retention_wake(struct retention *retention); /* NULL-safe; the rules have changed */
void retention_stop(struct retention *retention); /* NULL-safe; ends between two pages */

#endif
