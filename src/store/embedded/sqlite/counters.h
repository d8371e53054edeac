/* counters: the counters of the SQLite file, compared with its rows and made again from them. */
#ifndef STORE_EMBEDDED_SQLITE_COUNTERS_H
#define STORE_EMBEDDED_SQLITE_COUNTERS_H

#include "base/buf.h"
#include "store/embedded/sqlite/database.h"

/* One line in the report for each counter that is not what the rows say; *wrong counts them. */
enum status counters_verify(struct database *database, struct buf *report, size_t *wrong,
                            struct err *err);
/* Depths by category and reason as the rows say. What only counters know (ever arrived, spilled)
 * stays, and is at least what the rows show. Inside a transaction. */
enum status counters_rebuild(struct database *database, struct err *err);

#endif
