/* large_rows: finds the files of <store>.large that messages refer to, in the SQLite file or in an
 * open store. */
#ifndef STORE_EMBEDDED_PAGES_LARGE_ROWS_H
#define STORE_EMBEDDED_PAGES_LARGE_ROWS_H

#include "store/embedded/sqlite/database.h"
#include "store/embedded/store_internal.h"
#include "store/embedded/reader.h"

typedef void large_rows_visit(void *arg, uint64_t seq, const struct reader_large *found);

/* Calls `visit` for each message of the file whose stored body is a stub. Unreadable messages are
 * skipped. */
enum status large_rows_each(struct database *database, large_rows_visit *visit, void *arg,
                            struct err *err);

/* The same for all messages of the store, in the file or in the journal; called before its threads
 * run. CORRUPT, after all others were visited: some could not be read. */
enum status large_rows_held(struct sqlite_store *self, large_rows_visit *visit, void *arg,
                            struct err *err);

#endif
