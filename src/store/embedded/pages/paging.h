/* paging: what waits and is far from its turn is in the SQLite file alone
 * (store/tables/paged_queue.h); this drops it from memory and brings it back, a part at a time,
 * before its turn. Called with the store's mutex, unless said otherwise. */
#ifndef STORE_EMBEDDED_PAGES_PAGING_H
#define STORE_EMBEDDED_PAGES_PAGING_H

#include "store/embedded/store_internal.h"

struct row_facts;

/* `most` messages wait in memory; 0: WAITING_MAX. */
void paging_init(struct sqlite_store *self, size_t most);
/* At start: all that waits, or where that is too much the part that cannot be parked. */
enum status paging_load(struct sqlite_store *self, struct instant now, struct err *err);
/* At start: the rows that a statement selects as DATABASE_FACTS, into the tables. */
enum status paging_restore(struct sqlite_store *self, sqlite3_stmt *stmt, struct instant now,
                           struct err *err);
/* Before something is taken: what may be taken by now. */
void paging_bring(struct sqlite_store *self, struct queue_table *queue, enum store_take which,
                  struct instant now);
/* This very one, wherever it waits; NULL when it does not. */
struct entry *paging_take_one(struct sqlite_store *self, uint32_t queue, uint64_t seq);
/* A row that is about to come into memory: if it waits, it was parked and is not counted so any
 * more. */
void paging_note_back(struct sqlite_store *self, const struct row_facts *row);
/* Out of memory with what was parked there and is in the file. */
void paging_drop(struct sqlite_store *self);
/* Takes the mutex. A queue with an order has all of its messages in memory. */
void paging_set_order(struct store *store, uint32_t queue, enum store_order order);

#endif
