/* rows_verify: for doctor: checks that every row's bytes can be read, and that its columns match
 * its envelope. */
#ifndef STORE_EMBEDDED_SQLITE_ROWS_VERIFY_H
#define STORE_EMBEDDED_SQLITE_ROWS_VERIFY_H

#include "store/embedded/sqlite/database.h"

/* Calls `damaged` with each row that fails the check, and the reason. */
enum status rows_verify(struct database *database,
                        void (*damaged)(void *arg, uint64_t seq, const char *why), void *arg,
                        struct err *err);
/* Checks one row. CORRUPT: the check failed. */
enum status rows_verify_one(struct database *database, uint64_t seq, struct err *err);

#endif
