/* journal_fresh: a new segment file, written through in quiet times.
 *
 * A file that is only allocated makes every sync slow the first time it is filled, because the file
 * system has to note each block as written. So while nothing else is to be done, the file that the
 * next segment will be made of is filled with zeroes; when segments are there to be used again,
 * or the present one has nearly all of its room yet, none is needed. It has a name of its own until
 * it becomes the spare, and a crash leaves nothing but a file that the next start removes. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_FRESH_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_FRESH_H

#include "store/embedded/journal/journal_rotate.h"

/* Makes it unless it is there or not needed. One thread at a time; others may append meanwhile. */
enum status journal_fresh_make(struct journal_files *journal, struct err *err);
/* Renames it to `spare`, which is then the journal's spare; false: there is none. */
bool journal_fresh_take(struct journal_files *journal, const char *spare);
/* At open: what an earlier life left. */
void journal_fresh_sweep(struct journal_files *journal);

#endif
