/* bounds: checks numbers and names that are read from the SQLite file, before they are used.
 *
 * A value outside its bounds is damage. The first such value of a row sets status to CORRUPT and
 * err to the table, the row and the column; the function then returns 0 or an empty text. */
#ifndef STORE_EMBEDDED_SQLITE_BOUNDS_H
#define STORE_EMBEDDED_SQLITE_BOUNDS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

enum { BOUNDS_QUEUES_MAX = 10000 };
/* The limit for a count, a length or a time in milliseconds since 1970: a sum of a few does not
 * overflow. */
#define BOUNDS_NUMBER_MAX (INT64_C(1) << 53)
#define BOUNDS_SEQ_MAX    (INT64_C(1) << 62)

/* The current row of a statement. */
struct bounds {
    sqlite3_stmt *stmt;
    const char *table;
    int row; /* the column that identifies the row */
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
/* Reports other damage of the row. */
void bounds_damaged(struct bounds *bounds, int column, const char *what);

#endif
