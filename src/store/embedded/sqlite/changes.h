/* changes: what becomes of an entry when a commit is applied: its bytes are kept in memory for a
 * while, the fold is told of it, and it leaves memory when only people still need it. All of it is
 * called with the store's mutex. */
#ifndef STORE_EMBEDDED_SQLITE_CHANGES_H
#define STORE_EMBEDDED_SQLITE_CHANGES_H

#include "store/embedded/store_internal.h"

struct row_facts;

struct commit_batch_hooks changes_hooks(struct sqlite_store *self);
/* It is to be written by the next fold. */
void changes_add(struct sqlite_store *self, struct entry *entry);
/* The record at `position` set its envelope, and its body when `body`. */
void changes_note(struct sqlite_store *self, struct entry *entry, uint64_t position, bool body);
/* Drops the entry from memory when nothing needs it there. */
void changes_release(struct sqlite_store *self, struct entry *entry);
/* At a start, without the mutex: the held entry, read from the file when memory does not have it;
 * *out NULL: nobody has it. */
enum status changes_find(struct sqlite_store *self, uint64_t seq, struct entry **out,
                         struct err *err);
/* The same with the mutex, which is let go for the reading. */
enum status changes_fetch(struct sqlite_store *self, uint64_t seq, struct entry **out,
                          struct err *err);
/* The row as an entry, as changes_restore does, unless memory knows better: then NULL. One that
 * waits was parked. */
struct entry *changes_restore_row(struct sqlite_store *self, const struct row_facts *row);
/* A row of the file as an entry in the tables that needs no fold. */
struct entry *changes_restore(struct sqlite_store *self, const struct row_facts *row,
                              const struct instant *now);

#endif
