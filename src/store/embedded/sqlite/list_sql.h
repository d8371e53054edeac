/* list_sql: a query of the port as the text of a SELECT and the values bound to it. */
#ifndef STORE_EMBEDDED_SQLITE_LIST_SQL_H
#define STORE_EMBEDDED_SQLITE_LIST_SQL_H

#include <sqlite3.h>

#include "port/letters.h"

enum { LIST_VALUES_MAX = 48, LIST_SQL_MAX = 4096, LIST_REASONS_MAX = 8 };

/* The columns of the answer. */
enum { LIST_SEQ, LIST_DEAD_MS, LIST_ENVELOPE, LIST_TAKEN, LIST_MARK, LIST_AT, LIST_LEN };

struct list_sql {
    char text[LIST_SQL_MAX];
    struct list_value {
        struct bytes text; /* ptr NULL: the number */
        int64_t number;
    } values[LIST_VALUES_MAX];
    size_t value_count;
};

/* What memory knows that the file does not. */
struct list_known {
    uint32_t queue;     /* the number of query->queue */
    struct bytes taken; /* a JSON array of the numbers that are taken */
    /* All that begin with query->reason_prefix, where they are known and few. */
    struct bytes reasons[LIST_REASONS_MAX];
    size_t reason_count; /* 0: they are not known, or too many */
    /* When letters of query->fingerprint died, where that is known: both included; 0: any time. */
    struct wall first, last;
};

/* Texts are borrowed or in the arena. INVALID: cursor or search text. */
enum status list_sql_build(struct list_sql *out, const struct letters_query *query,
                           const struct list_known *known, struct arena *arena, struct err *err);
/* One row: how many letters of that one state, the newest death, how many may be adopted. */
enum { LIST_SUM_COUNT, LIST_SUM_NEWEST, LIST_SUM_ADOPTED };
enum status list_sql_build_sum(struct list_sql *out, const struct letters_query *query,
                               const struct list_known *known, struct arena *arena,
                               struct err *err);
/* The caller finalizes. */
enum status list_sql_prepare(const struct list_sql *sql, sqlite3 *db, sqlite3_stmt **out,
                             struct err *err);

#endif
