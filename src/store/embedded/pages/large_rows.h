/* large_rows: which files of <store>.large the messages name, of the SQLite file or of an open
 * store. */
#ifndef STORE_EMBEDDED_PAGES_LARGE_ROWS_H
#define STORE_EMBEDDED_PAGES_LARGE_ROWS_H

#include "store/embedded/sqlite/database.h"
#include "store/embedded/store_internal.h"
#include "store/embedded/reader.h"

typedef void large_rows_visit(void *arg, uint64_t seq, const struct reader_large *found);

/* Calls `visit` for each message of the file whose stored body is a stub. Those that cannot be read
 * are passed over. */
enum status large_rows_each(struct database *database, large_rows_visit *visit, void *arg,
                            struct err *err);

/* The same of what the store holds, in the file or in the journal; before its threads run. CORRUPT,
 * after all that can be read: some could not. */
enum status large_rows_held(struct sqlite_store *self, large_rows_visit *visit, void *arg,
                            struct err *err);

#endif
