/* spread: from when to when letters died that have each of the traits.
 *
 * A filter that few letters match is mostly one of a short time: of an incident, of a queue that is
 * new. A list that knows when looks at that part of the index alone, and at nothing when no letter
 * ever had the trait. A span only ever grows, by each row before it is in the file, so it may be
 * longer than need be and is never too short. It is kept in memory, and read from the index once,
 * beside everything else; lists are not narrowed before. Every function may be called from any
 * thread. */
#ifndef STORE_EMBEDDED_SQLITE_TIME_BOUNDS_H
#define STORE_EMBEDDED_SQLITE_TIME_BOUNDS_H

#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite/filter_signature.h"

struct spread *time_bounds_new(void);
void time_bounds_free(struct spread *spread);

struct time_bounds_letter {
    int64_t traits, dead_ms;
};

/* NULL-safe. Before their rows are in the file. */
void time_bounds_add(struct spread *spread, const struct time_bounds_letter *letters, size_t count);

/* What was in the file before; then lists are narrowed. */
enum status time_bounds_read(struct spread *spread, struct database *database, struct err *err);
void time_bounds_stop(struct spread *spread); /* reading, where that is under way */

/* Narrows the query's since and until to when letters died that may match it: with these traits and
 * with one of these reasons (none: whatever they are). False: there are none. */
bool time_bounds_narrow(struct spread *spread, const struct filter_signature_wanted *wanted,
                        const struct bytes *reasons, size_t reason_count,
                        struct letters_query *query);

#endif
