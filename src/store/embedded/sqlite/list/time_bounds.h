/* time_bounds: the range of dead_at of the letters that have each value of the filter signature.
 *
 * Letters that match a selective filter are mostly of a short period: of an incident, or of a new
 * queue. A list that knows the period scans only that part of the index, and nothing if no letter
 * ever had the value. A range only ever grows, before the row is in the file, so it may be longer
 * than needed but is never too short. The ranges are kept in memory, and are read from the index
 * once, in a separate thread; lists are not narrowed before that is complete. Every function may be
 * called from any thread. */
#ifndef STORE_EMBEDDED_SQLITE_TIME_BOUNDS_H
#define STORE_EMBEDDED_SQLITE_TIME_BOUNDS_H

#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite/list/filter_signature.h"

struct time_bounds *time_bounds_new(void);
void time_bounds_free(struct time_bounds *spread);

struct time_bounds_letter {
    int64_t traits, dead_ms;
};

/* NULL: no effect. Called before the rows are in the file. */
void time_bounds_add(struct time_bounds *spread, const struct time_bounds_letter *letters,
                     size_t count);

/* Reads the ranges of the rows in the file; lists are narrowed afterwards. */
enum status time_bounds_read(struct time_bounds *spread, struct database *database,
                             struct err *err);
void time_bounds_stop(struct time_bounds *spread); /* interrupts time_bounds_read, if it runs */

/* Narrows the query's since and until to the time in which letters died that may match it: with
 * these traits and with one of these reasons (none given: any reason). False: there are no such
 * letters. */
bool time_bounds_narrow(struct time_bounds *spread, const struct filter_signature_wanted *wanted,
                        const struct bytes *reasons, size_t reason_count,
                        struct letters_query *query);

#endif
