/* paging: keeps waiting messages that are far from being taken in the SQLite file only
 * (store/tables/ready/paged_queue.h): drops them from memory, and loads them in parts before they
 * can be taken. Called with the store's mutex, unless stated otherwise. */
#ifndef STORE_EMBEDDED_PAGES_PAGING_H
#define STORE_EMBEDDED_PAGES_PAGING_H

#include "store/embedded/store_internal.h"

struct row_facts;

/* `most`: maximum number of waiting messages in memory; 0: WAITING_MAX. */
void paging_init(struct sqlite_store *self, size_t most);
/* When the store is opened: loads all waiting messages, or if there are too many those that cannot
 * be parked. */
enum status paging_load(struct sqlite_store *self, struct instant now, struct err *err);
/* When the store is opened: loads the rows of a statement that selects DATABASE_FACTS into the
 * tables. */
enum status paging_restore(struct sqlite_store *self, sqlite3_stmt *stmt, struct instant now,
                           struct err *err);
/* Before a take: loads the parked messages that can be taken now. */
void paging_bring(struct sqlite_store *self, struct queue_table *queue, enum store_take which,
                  struct instant now);
/* Takes the message with this seq, in memory or parked; NULL if it does not wait. */
struct entry *paging_take_one(struct sqlite_store *self, uint32_t queue, uint64_t seq, bool any);
/* Called before a row is loaded into memory: if its message waits, it was parked, and is not
 * counted as parked any more. */
void paging_note_back(struct sqlite_store *self, const struct row_facts *row);
/* Drops parked entries from memory that are in the file. */
void paging_drop(struct sqlite_store *self);
/* Takes the mutex. An ordered queue has all of its messages in memory. */
void paging_set_order(struct store *store, uint32_t queue, enum store_order order);

#endif
