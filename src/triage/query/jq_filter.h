/* jq_filter: filters a list with a jq program that sees each whole envelope, including its body.
 *
 * The store's list is read a page at a time, and JQ_FILTER_WINDOW programs run concurrently; no
 * more bodies than that are in memory. Rows are given in the list's order. */
#ifndef TRIAGE_QUERY_JQ_FILTER_H
#define TRIAGE_QUERY_JQ_FILTER_H

#include "triage/query/query.h"

enum { JQ_FILTER_WINDOW = 16, JQ_FILTER_PAGE = 256 };

struct jq_filter_result {
    struct bytes cursor; /* after the last row examined; ptr NULL: no more */
    uint64_t behind;
    size_t looked_at;
    bool stopped;             /* at a bound, before the limit or the end of the list */
    size_t skipped;           /* rows for which the program failed … */
    struct err first_skipped; /* … and the first error */
};

typedef void jq_filter_row_fn(void *arg, const struct letters_row *row);

/* Calls `row` for each row that matches, and for each whose envelope is damaged, until filter.limit
 * matched, QUERY_WHERE_SCAN_MAX were examined, or QUERY_WHERE_MS have passed. INVALID: the program
 * does not compile; BUSY: the client disconnected. Results are in the arena. May wait for the store
 * and jq. */
enum status jq_filter_run(struct store *store, struct jq *jq, const struct query *query,
                          struct arena *arena, jq_filter_row_fn *row, void *arg,
                          struct jq_filter_result *out, struct err *err);

#endif
