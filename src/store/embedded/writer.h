/* writer: makes commits durable. A commit is prepared on its caller's thread and staged there from
 * memory, or on the lookup thread if rows of the file are needed. All waiting commits become one
 * group in the journal with one fsync; then they are applied to the tables, and `done` is called
 * for each. */
#ifndef STORE_EMBEDDED_WRITER_H
#define STORE_EMBEDDED_WRITER_H

#include "store/embedded/store_internal.h"

void writer_submit(struct store *store, struct store_commit *commit);
/* Writes until no commit waits. */
void writer_step(struct sqlite_store *self);
/* The writer thread: runs until `stopping`, then writes the remaining commits. */
void *writer_run(void *self);
/* The lookup thread: stages commits that need rows of the file, until `looking_stopping`, then the
 * remaining ones. */
void *writer_look_up(void *self);
/* Drops all submitted commits without a call of `done`. */
void writer_abandon(struct sqlite_store *self);

#endif
