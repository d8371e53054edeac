/* retention: deletes letters whose retention is over, after archiving them.
 *
 * Resolved and discarded letters are written to the DLQ's archive, if it has one, and deleted once
 * the archive is durable. Unresolved letters are touched only if the policy says so: archived, then
 * marked resolved / expired, and from then on treated as resolved. After a crash at any point a
 * letter is in the store, in the archive, or in both; never in neither. Every step is audited. */
#ifndef TRIAGE_DECIDE_RETENTION_H
#define TRIAGE_DECIDE_RETENTION_H

#include <stdatomic.h>

#include "triage/triage.h"

enum retention_of {
    RETENTION_UNRESOLVED, /* since dead_at */
    RETENTION_RESOLVED,   /* since resolved_at */
    RETENTION_DISCARDED,  /* since the decision, or dead_at if a rule discarded it */
    RETENTION_COUNT
};

struct retention_rule {
    struct bytes dlq;
    struct bytes archive;             /* "file:…"; empty: none. Required for unresolved letters */
    int64_t keep_ms[RETENTION_COUNT]; /* RETENTION_NEVER: kept for ever */
};
#define RETENTION_NEVER INT64_MAX

struct retention_options {
    struct triage *triage;
    struct bytes base_dir; /* base of relative archive paths */
    /* The current rules, one for each DLQ; texts are in the arena or outlive the process. */
    size_t (*rules)(void *arg, struct arena *arena, struct retention_rule **out);
    void *arg;
};

/* Handles all letters that are due under one rule, a page and a commit at a time, until `ending`
 * (may be NULL). *gone: letters that were deleted or expired. Unreadable letters stay and are
 * logged. Waits for the store. */
enum status retention_sweep(struct triage *triage, struct bytes base_dir,
                            const struct retention_rule *rule, const atomic_bool *ending,
                            uint64_t *gone, struct err *err);
/* The interval between sweeps for these rules. */
int64_t retention_interval_ms(const struct retention_rule *rules, size_t count);

struct retention;

/* Starts a thread that sweeps at that interval. */
struct retention *retention_start(const struct retention_options *options);
void retention_wake(struct retention *retention); /* NULL-safe; the rules have changed */
void retention_stop(struct retention *retention); /* NULL-safe; ends between two pages */

#endif
