/* large_rows: which files of <store>.large the messages of the SQLite file name. */
#ifndef STORE_LARGE_ROWS_H
#define STORE_LARGE_ROWS_H

#include "store/sqlite/database.h"
#include "store/sqlite/large.h"

/* Calls `visit` for each message of the file whose stored body is a stub. */
enum status large_rows_each(struct database *database,
                            void (*visit)(void *arg, uint64_t seq, const char *name, uint64_t size),
                            void *arg, struct err *err);

#endif
