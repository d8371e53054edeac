/* prefetch: the rows that a commit asks for and memory does not have, brought into the tables
 * before the commit is staged: messages that are changed by number, and ids that producers chose.
 *
 * The file is read without the mutex, so that nobody else waits for it. A row may be too old by the
 * time it has been read only if a fold was settled meanwhile, because what was changed stays in
 * memory until then: `settles` tells, and the rows are read again. */
#ifndef STORE_EMBEDDED_PREFETCH_H
#define STORE_EMBEDDED_PREFETCH_H

#include "store/embedded/store_internal.h"

/* Whether staging asks for something that is in the file alone. With the mutex. */
bool prefetch_is_needed(const struct sqlite_store *self, const struct commit_batch *batch);
/* Stages the batch after what it asks for was read. With the mutex, which is let go for the
 * reading. On trouble the commit's err is set. */
enum status prefetch_and_stage(struct sqlite_store *self, struct commit_batch *batch);

#endif
