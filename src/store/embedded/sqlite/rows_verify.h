/* rows_verify: for doctor: can every row's bytes be read, and do its columns say what its envelope
 * says? */
#ifndef STORE_EMBEDDED_SQLITE_ROWS_VERIFY_H
#define STORE_EMBEDDED_SQLITE_ROWS_VERIFY_H

#include "store/embedded/sqlite/database.h"

/* Calls `damaged` with each row of which that is not so, and why. */
enum status rows_verify(struct database *database,
                        void (*damaged)(void *arg, uint64_t seq, const char *why), void *arg,
                        struct err *err);
/* Of one row. CORRUPT: it is not. */
enum status rows_verify_one(struct database *database, uint64_t seq, struct err *err);

#endif
