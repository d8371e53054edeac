/* writer: makes commits durable. A commit is prepared on its caller's thread and staged there from
 * memory, or on the lookup thread where the file has to be asked. All that wait become one group in
 * the journal with one sync, then they are applied to the tables, then each is answered. */
#ifndef STORE_EMBEDDED_WRITER_H
#define STORE_EMBEDDED_WRITER_H

#include "store/embedded/store_internal.h"

void writer_submit(struct store *store, struct store_commit *commit);
/* Writes until nothing waits. */
void writer_step(struct sqlite_store *self);
/* The thread: until `stopping`, and then what is left. */
void *writer_run(void *self);
/* The lookup thread: stages commits that ask for what is in the file alone, until
 * `looking_stopping` and then what is left. */
void *writer_look_up(void *self);
/* Without an answer: what was submitted is dropped. */
void writer_abandon(struct sqlite_store *self);

#endif
