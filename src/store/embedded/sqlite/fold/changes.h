/* changes: updates an entry when a commit is applied: keeps its bytes in memory for a while, adds
 * it to the next fold, and drops it from memory if it is a letter that is not needed there. Called
 * with the store's mutex. */
#ifndef STORE_EMBEDDED_SQLITE_CHANGES_H
#define STORE_EMBEDDED_SQLITE_CHANGES_H

#include "store/embedded/store_internal.h"

struct row_facts;

struct commit_batch_hooks changes_hooks(struct sqlite_store *self);
/* Adds the entry to the next fold. */
void changes_add(struct sqlite_store *self, struct entry *entry);
/* The record at `position` has the entry's envelope, and its body if `body`. */
void changes_note(struct sqlite_store *self, struct entry *entry, uint64_t position, bool body);
/* Drops the entry from memory if nothing needs it there. */
void changes_release(struct sqlite_store *self, struct entry *entry);
/* At a start, without the mutex: finds the held entry, and loads it from the file if it is not in
 * memory; *out NULL: there is none. */
enum status changes_find(struct sqlite_store *self, uint64_t seq, struct entry **out,
                         struct err *err);
/* The same with the mutex, which is released during the read. */
enum status changes_fetch(struct sqlite_store *self, uint64_t seq, struct entry **out,
                          struct err *err);
/* As changes_restore, unless memory has a newer entry: then NULL. A message that waits was parked.
 */
struct entry *changes_restore_row(struct sqlite_store *self, const struct row_facts *row);
/* Adds a row of the file to the tables, as an entry without pending changes. */
struct entry *changes_restore(struct sqlite_store *self, const struct row_facts *row,
                              const struct instant *now);

#endif
