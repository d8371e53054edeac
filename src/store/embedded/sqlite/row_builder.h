/* drafter: makes the fresh rows of a fold ready in a thread of its own, ahead of the fold that
 * writes them:
 *
 *   [drafter] journal, packs → drafts → [fold] SQLite
 *
 * Reading a row and putting its bytes into the packs costs about as much as SQLite's part of it.
 * The two meet at a ring of batches. While a fold drafts, nobody else touches the packs; when
 * row_builder_write returns, the drafter has left them. It is done before the fold is, so it can
 * take over what is left to do of the fold before. */
#ifndef STORE_EMBEDDED_SQLITE_ROW_BUILDER_H
#define STORE_EMBEDDED_SQLITE_ROW_BUILDER_H

#include "store/embedded/sqlite/error_texts.h"
#include "store/embedded/sqlite/snapshot.h"

struct drafter;

struct drafter *row_builder_new(void);
void row_builder_free(struct drafter *drafter); /* NULL: nothing */

/* Writes the snapshot's fresh rows, inside the fold's transaction. The places of all other entries
 * that are not forgotten, and of rows too large for a draft, go to `left`, which has room for every
 * entry. With no drafter, or few entries, all is done by the caller's thread. */
enum status row_builder_write(struct drafter *drafter, struct sqlite_store *self,
                              const struct snapshot *snapshot, struct error_texts *texts,
                              size_t *left, size_t *left_count, struct err *err);

/* `job` is done by the thread behind what it drafts next, or by row_builder_finish. One at a time.
 */
void row_builder_defer(struct drafter *drafter, void (*job)(void *arg), void *arg);
/* What was deferred is done when it returns. NULL: nothing. */
void row_builder_finish(struct drafter *drafter);

#endif
