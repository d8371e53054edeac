/* bounds: checks of numbers and names that are read from the SQLite file, before anything uses
 * them.
 *
 * A value outside its bound is damage. The first one of a row sets status to CORRUPT and err to the
 * table, the row and the column; the value that is returned then is 0 or empty. */
#ifndef STORE_EMBEDDED_SQLITE_BOUNDS_H
#define STORE_EMBEDDED_SQLITE_BOUNDS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

enum { BOUNDS_QUEUES_MAX = 10000 };
/* Of a count, a length or a time in milliseconds since 1970: sums of a few do not overflow. */
#define BOUNDS_NUMBER_MAX (INT64_C(1) << 53)
#define BOUNDS_SEQ_MAX    (INT64_C(1) << 62)

/* A row that a statement stands on. */
struct bounds {
    sqlite3_stmt *stmt;
    const char *table;
    int row; /* the column that tells the row from others */
    enum status status;
    struct err *err;
};

/* least ≤ value ≤ most. */
int64_t bounds_int(struct bounds *bounds, int column, int64_t least, int64_t most);
/* 0 … BOUNDS_NUMBER_MAX */
uint64_t bounds_count(struct bounds *bounds, int column);
/* −BOUNDS_NUMBER_MAX … BOUNDS_NUMBER_MAX: letters of other systems may have died before 1970. */
int64_t bounds_time(struct bounds *bounds, int column);
/* At least one byte. Borrowed as database_text is. */
struct bytes bounds_name(struct bounds *bounds, int column);
/* For what else is wrong with the row. */
void bounds_damaged(struct bounds *bounds, int column, const char *what);

#endif
