/* fold: brings the SQLite file up to the tables. One transaction holds the rows that changed, the
 * counters, the queues and the journal position up to which all of it speaks; afterwards the
 * journal before that position may be used again. What was put and forgotten between two folds
 * leaves no trace in the file.
 *
 * Folds are of a bounded size, so that one fits into SQLite's cache: when enough has changed, it is
 * sealed as it is at that moment and stands in line. */
#ifndef STORE_EMBEDDED_SQLITE_FOLD_H
#define STORE_EMBEDDED_SQLITE_FOLD_H

#include "store/embedded/store_internal.h"

/* Folds until nothing is behind; not while the thread runs. */
enum status fold_all(struct sqlite_store *self, struct err *err);
/* Forgets the folds that wait. */
void fold_abandon(struct sqlite_store *self);
/* The thread: until `fold_stopping`. */
void *fold_run(void *self);
/* With the mutex: something was committed. */
void fold_note_commit(struct sqlite_store *self, struct mono now);
/* Up to where the journal is in the file, and its segments may be used again. */
uint64_t fold_end(struct sqlite_store *self);
/* For the writer: true when a fold has made the journal shorter since fold_end said `before`. */
bool fold_make_room(struct sqlite_store *self, uint64_t before);
/* For the writer: waits while more than BEHIND_MAX changes wait for folds, unless folds fail. */
void fold_keep_bound(struct sqlite_store *self);
/* Waits at most LIST_WAIT_MS for the fold of what is committed; returns how many changes it did not
 * reach. */
uint64_t fold_wait(struct sqlite_store *self);

/* Called now and then while a fold is written: rests a while when a burst of commits is under way.
 */
void fold_give_way(struct sqlite_store *self);

/* Gives back the room of one pack that wastes it; false when there is none. In idle times. */
bool fold_compact(struct sqlite_store *self);

#endif
