/* journal_fresh: preallocates the file of the next segment when the store is idle.
 *
 * In a file that is only allocated every sync is slow until it was filled once, because the file
 * system has to mark each block as written. So the file for the next segment is filled with zeroes
 * in idle times. None is needed if there are segments to be reused, or if the current one is nearly
 * empty. The file has a name of its own until it becomes the spare; one that a crash leaves behind
 * is removed at the next start. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_FRESH_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_FRESH_H

#include "store/embedded/journal/journal_rotate.h"

/* Makes the file, unless it exists or is not needed. One thread at a time; others may append
 * meanwhile. */
enum status journal_fresh_make(struct journal_files *journal, struct err *err);
/* Renames it to `spare`, which becomes the journal's spare; false: there is none. */
bool journal_fresh_take(struct journal_files *journal, const char *spare);
/* When the journal is opened: removes a file that an earlier process left. */
void journal_fresh_sweep(struct journal_files *journal);

#endif
