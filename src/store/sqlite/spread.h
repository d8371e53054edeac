/* spread: from when to when letters died that have each of the traits.
 *
 * A filter that few letters match is mostly one of a short time: of an incident, of a queue that is
 * new. A list that knows when looks at that part of the index alone, and at nothing when no letter
 * ever had the trait. A span only ever grows, by each row before it is in the file, so it may be
 * longer than need be and is never too short. It is kept in memory, and read from the index once,
 * beside everything else; lists are not narrowed before. Every function may be called from any
 * thread. */
#ifndef STORE_SPREAD_H
#define STORE_SPREAD_H

#include "store/sqlite/database.h"
#include "store/sqlite/traits.h"

struct spread *spread_new(void);
void spread_free(struct spread *spread);

struct spread_letter {
    int64_t traits, dead_ms;
};

/* NULL-safe. Before their rows are in the file. */
void spread_add(struct spread *spread, const struct spread_letter *letters, size_t count);

/* What was in the file before; then lists are narrowed. */
enum status spread_read(struct spread *spread, struct database *database, struct err *err);
void spread_stop(struct spread *spread); /* reading, where that is under way */

/* Narrows the query's since and until to when letters died that may match it: with these traits and
 * with one of these reasons (none: whatever they are). False: there are none. */
bool spread_narrow(struct spread *spread, const struct traits_wanted *wanted,
                   const struct bytes *reasons, size_t reason_count, struct letters_query *query);

#endif
