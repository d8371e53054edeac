/* list_sql: a query of port/letters.h as the text of a SELECT and its bound values. */
#ifndef STORE_EMBEDDED_SQLITE_LIST_SQL_H
#define STORE_EMBEDDED_SQLITE_LIST_SQL_H

#include <sqlite3.h>

#include "port/letters.h"

enum { LIST_VALUES_MAX = 48, LIST_SQL_MAX = 4096, LIST_REASONS_MAX = 8 };

/* The columns of the result. */
enum { LIST_SEQ, LIST_DEAD_MS, LIST_ENVELOPE, LIST_TAKEN, LIST_MARK, LIST_AT, LIST_LEN };

struct list_sql {
    char text[LIST_SQL_MAX];
    struct list_value {
        struct bytes text; /* ptr NULL: bind the number */
        int64_t number;
    } values[LIST_VALUES_MAX];
    size_t value_count;
};

/* Facts in memory that the file does not have. */
struct list_known {
    uint32_t queue;     /* the number of query->queue */
    struct bytes taken; /* a JSON array of the seq of taken messages */
    /* All reasons that start with query->reason_prefix, if they are known and few. */
    struct bytes reasons[LIST_REASONS_MAX];
    size_t reason_count; /* 0: not known, or too many */
    /* The range of dead_at of letters with query->fingerprint, if known: both ends inclusive; 0:
     * open. */
    struct wall first, last;
};

/* Texts are borrowed or in the arena. INVALID: invalid cursor or search text. */
enum status list_sql_build(struct list_sql *out, const struct letters_query *query,
                           const struct list_known *known, struct arena *arena, struct err *err);
/* One row: the number of letters in one state, the newest dead_at, how many may be adopted. */
enum { LIST_SUM_COUNT, LIST_SUM_NEWEST, LIST_SUM_ADOPTED };
enum status list_sql_build_sum(struct list_sql *out, const struct letters_query *query,
                               const struct list_known *known, struct arena *arena,
                               struct err *err);
/* The caller finalizes the statement. */
enum status list_sql_prepare(const struct list_sql *sql, sqlite3 *db, sqlite3_stmt **out,
                             struct err *err);

#endif
