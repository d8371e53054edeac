/* prefetch: loads the rows that a commit needs and memory does not have into the tables, before the
 * commit is staged: messages that are changed by seq, and ids that producers chose.
 *
 * The file is read without the mutex, so that no other thread waits for the read. A row that was
 * read can be out of date only if a fold was settled meanwhile, because changed entries stay in
 * memory until then. `settles` counts these, and the rows are read again if it changed. */
#ifndef STORE_EMBEDDED_PREFETCH_H
#define STORE_EMBEDDED_PREFETCH_H

#include "store/embedded/store_internal.h"

/* True if staging needs a row that is in the file only. Called with the mutex. */
bool prefetch_is_needed(const struct sqlite_store *self, const struct commit_batch *batch);
/* Reads the rows that the batch needs, and stages it. Called with the mutex, which is released
 * during the read. On an error the commit's err is set. */
enum status prefetch_and_stage(struct sqlite_store *self, struct commit_batch *batch);

#endif
