/* counters: compares the counters of the SQLite file with its rows, and recounts them. */
#ifndef STORE_EMBEDDED_SQLITE_COUNTERS_H
#define STORE_EMBEDDED_SQLITE_COUNTERS_H

#include "base/buf.h"
#include "store/embedded/sqlite/database.h"

/* Reports one line for each counter that differs from the rows; *wrong counts them. */
enum status counters_verify(struct database *database, struct buf *report, size_t *wrong,
                            struct err *err);
/* Recounts the depths by category and reason. Counters that cannot be recounted (letters ever
 * arrived, spilled) stay, and are raised to the count of the rows if they are less. Called inside a
 * transaction. */
enum status counters_rebuild(struct database *database, struct err *err);

#endif
