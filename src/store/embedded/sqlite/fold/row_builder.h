/* row_builder: builds the new rows of a fold in a thread of its own, ahead of the fold thread that
 * writes them:
 *
 *   [row builder] journal, packs → drafts → [fold] SQLite
 *
 * Reading a message and appending its bytes to the packs takes about as long as SQLite's part. The
 * two threads exchange batches through a ring buffer. While the row builder runs, no other thread
 * uses the packs; when row_builder_write returns, it has stopped using them. It finishes before the
 * fold does, so it can also do the deferred work of the previous fold. */
#ifndef STORE_EMBEDDED_SQLITE_ROW_BUILDER_H
#define STORE_EMBEDDED_SQLITE_ROW_BUILDER_H

#include "store/embedded/sqlite/list/error_texts.h"
#include "store/embedded/sqlite/fold/snapshot.h"

struct row_builder;

struct row_builder *row_builder_new(void);
void row_builder_free(struct row_builder *drafter); /* NULL: no effect */

/* Writes the snapshot's new rows, inside the fold's transaction. The indexes of all other entries
 * that are not forgotten, and of rows that are too large for a draft, are stored in `left`, which
 * has room for every entry. Without a row builder, or with few entries, the calling thread does all
 * the work. */
enum status row_builder_write(struct row_builder *drafter, struct sqlite_store *self,
                              const struct snapshot *snapshot, struct error_texts *texts,
                              size_t *left, size_t *left_count, struct err *err);

/* `job` is run by the thread after the next rows that it builds, or by row_builder_finish. One job
 * at a time. */
void row_builder_defer(struct row_builder *drafter, void (*job)(void *arg), void *arg);
/* Returns when the deferred job is done. NULL: no effect. */
void row_builder_finish(struct row_builder *drafter);

#endif
