/* arrivals: how many letters came when, by category and by group, for whoever asks whether it
 * grows.
 *
 * The store counts what ever arrived; each reading adds what came since the reading before to the
 * slots of the moment. Nobody is told of single letters, so a reading costs the same at any rate.
 * What is read is kept in the store (SPACE_ARRIVALS) together with the totals it was read at: what
 * came between the last save and a kill is counted by the first reading of the next life.
 *
 * Bounded: categories beyond ARRIVALS_CATEGORIES_MAX are counted as "other"; of groups, those to
 * which letters came last are known. */
#ifndef TRIAGE_ARRIVALS_H
#define TRIAGE_ARRIVALS_H

#include "triage/triage.h"

enum {
    ARRIVALS_CATEGORIES_MAX = 24, /* "other" is one more */
    ARRIVALS_GROUPS_MAX = 512,
    ARRIVALS_GROUP_HOURS = 24, /* that are shown of a group */
    ARRIVALS_SAVE_MS = 60 * 1000,
};

struct arrivals;

/* Takes up what an earlier life kept, and reads once. */
enum status arrivals_new(struct triage *triage, struct arrivals **out, struct err *err);
void arrivals_free(struct arrivals *arrivals); /* NULL-safe; saves nothing */

/* A reading; now and then it is saved. May wait for the store: not on the engine's, an HTTP or a
 * store's thread. */
void arrivals_read(struct arrivals *arrivals);

/* {"window","from","step_seconds","steps","categories":{name:[…]}}, oldest slot first, after a
 * reading. INVALID: there is no such window. */
enum status arrivals_json(struct arrivals *arrivals, struct bytes window, struct buf *out,
                          struct err *err);
/* Adds to `hours` what came to the group of one DLQ, oldest hour first. */
void arrivals_of_group(struct arrivals *arrivals, struct bytes dlq, uint64_t fingerprint,
                       uint64_t hours[ARRIVALS_GROUP_HOURS]);

#endif
