/* fold: writes the changes in the tables to the SQLite file. One transaction contains the changed
 * rows, the counters, the queues and the journal position up to which they are complete; after it
 * the journal before that position may be recycled. A message that was put and forgotten between
 * two folds is never written to the file.
 *
 * Folds are of a bounded size, so that one fits into SQLite's cache: when enough has changed, the
 * changes are sealed as a snapshot and queued. */
#ifndef STORE_EMBEDDED_SQLITE_FOLD_H
#define STORE_EMBEDDED_SQLITE_FOLD_H

#include "store/embedded/store_internal.h"

/* Folds until the file is up to date; not while the thread runs. */
enum status fold_all(struct sqlite_store *self, struct err *err);
/* Drops the queued folds. */
void fold_abandon(struct sqlite_store *self);
/* The fold thread: runs until `fold_stopping`. */
void *fold_run(void *self);
/* Called with the mutex when a commit was applied. */
void fold_note_commit(struct sqlite_store *self, struct mono now);
/* The journal position up to which the file is complete; segments before it may be recycled. */
uint64_t fold_end(struct sqlite_store *self);
/* For the writer: true if a fold has made the journal shorter since fold_end returned `before`. */
bool fold_make_room(struct sqlite_store *self, uint64_t before);
/* For the writer: waits while more than BEHIND_MAX changes wait for folds, unless folds fail. */
void fold_keep_bound(struct sqlite_store *self);
/* Waits at most LIST_WAIT_MS for the fold of all committed changes; returns the number of changes
 * that are still not folded. */
uint64_t fold_wait(struct sqlite_store *self);

/* Called repeatedly while a fold is written: pauses for a short time during a burst of commits. */
void fold_give_way(struct sqlite_store *self);

/* Compacts one pack with unused space; false if there is none. Called in idle times. */
bool fold_compact(struct sqlite_store *self);

#endif
