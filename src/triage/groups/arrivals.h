/* arrivals: letters that arrived in each minute, quarter hour and hour, by category and by group,
 * for the charts of the dashboard.
 *
 * The store counts all letters that ever arrived; each reading adds the difference since the last
 * reading to the current slots, so a reading costs the same at any rate of arrivals. The slots are
 * saved in the store (SPACE_ARRIVALS) together with the totals that they were read at: letters that
 * arrived between the last save and a crash are counted by the first reading after the restart.
 *
 * Bounded: categories beyond ARRIVALS_CATEGORIES_MAX are counted as "other"; of the groups, those
 * with the latest arrivals are kept. */
#ifndef TRIAGE_GROUPS_ARRIVALS_H
#define TRIAGE_GROUPS_ARRIVALS_H

#include "triage/triage.h"

enum {
    ARRIVALS_CATEGORIES_MAX = 24, /* besides "other" */
    ARRIVALS_GROUPS_MAX = 512,
    ARRIVALS_GROUP_HOURS = 24, /* shown of a group */
    ARRIVALS_SAVE_MS = 60 * 1000,
};

struct arrivals;

/* Loads the saved counters and reads once. */
enum status arrivals_new(struct triage *triage, struct arrivals **out, struct err *err);
void arrivals_free(struct arrivals *arrivals); /* NULL-safe; saves nothing */

/* Reads the store's totals, and saves every ARRIVALS_SAVE_MS. Waits for the store: not for the
 * engine's, an HTTP or a store's thread. */
void arrivals_read(struct arrivals *arrivals);

/* Reads, then appends {"window","from","step_seconds","steps","categories":{name:[…]}}, oldest slot
 * first. INVALID: no such window. */
enum status arrivals_json(struct arrivals *arrivals, struct bytes window, struct buf *out,
                          struct err *err);
/* Adds to `hours` the letters that arrived in the group of one DLQ, oldest hour first. */
void arrivals_of_group(struct arrivals *arrivals, struct bytes dlq, uint64_t fingerprint,
                       uint64_t hours[ARRIVALS_GROUP_HOURS]);

#endif
