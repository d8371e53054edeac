/* drafter: makes the fresh rows of a fold ready in a thread of its own, ahead of the fold that
 * writes them:
 *
 *   [drafter] journal, packs → drafts → [fold] SQLite
 *
 * Reading a row and putting its bytes into the packs costs about as much as SQLite's part of it.
 * The two meet at a ring of batches. While a fold drafts, nobody else touches the packs; when
 * drafter_write returns, the drafter has left them. It is done before the fold is, so it can take
 * over what is left to do of the fold before. */
#ifndef STORE_DRAFTER_H
#define STORE_DRAFTER_H

#include "store/sqlite/error_texts.h"
#include "store/sqlite/snapshot.h"

struct drafter;

struct drafter *drafter_new(void);
void drafter_free(struct drafter *drafter); /* NULL: nothing */

/* Writes the snapshot's fresh rows, inside the fold's transaction. The places of all other entries
 * that are not forgotten, and of rows too large for a draft, go to `left`, which has room for every
 * entry. With no drafter, or few entries, all is done by the caller's thread. */
enum status drafter_write(struct drafter *drafter, struct sqlite_store *self,
                          const struct snapshot *snapshot, struct error_texts *texts, size_t *left,
                          size_t *left_count, struct err *err);

/* `job` is done by the thread behind what it drafts next, or by drafter_finish. One at a time. */
void drafter_defer(struct drafter *drafter, void (*job)(void *arg), void *arg);
/* What was deferred is done when it returns. NULL: nothing. */
void drafter_finish(struct drafter *drafter);

#endif
