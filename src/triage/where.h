/* where: a list narrowed by a jq program that sees each whole envelope, body and all.
 *
 * The store's list is read a page at a time and asked about a few rows at a time: so many programs
 * run at once and no more than that many bodies are held. Rows come out in the list's order. */
#ifndef TRIAGE_WHERE_H
#define TRIAGE_WHERE_H

#include "triage/query.h"

enum { WHERE_WINDOW = 16, WHERE_PAGE = 256 };

struct where_result {
    struct bytes cursor; /* behind the last row that was looked at; ptr NULL: there are no more */
    uint64_t behind;
    size_t looked_at;
    bool stopped;             /* at a bound, before the limit or the end of the list */
    size_t skipped;           /* rows on which the program failed … */
    struct err first_skipped; /* … and why the first of them did */
};

typedef void where_row_fn(void *arg, const struct letters_row *row);

/* Calls `row` for each that matches, and for each whose envelope is damaged, until filter.limit
 * matched, QUERY_WHERE_SCAN_MAX were looked at or QUERY_WHERE_MS have passed. INVALID when the
 * program does not compile, BUSY when nobody waits for the answer any more. Results live in the
 * arena. May wait. */
enum status where_run(struct store *store, struct jq *jq, const struct query *query,
                      struct arena *arena, where_row_fn *row, void *arg, struct where_result *out,
                      struct err *err);

#endif
