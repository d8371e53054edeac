/* page: where a page of a list begins and ends, and in which order it runs.
 *
 * Letters run by the time of their death, everything else by number; the newest comes first, or the
 * oldest. A cursor names the last row of the page before, so that rows that arrive meanwhile shift
 * nothing. */
#ifndef STORE_TABLES_LIST_PAGE_H
#define STORE_TABLES_LIST_PAGE_H

#include "port/letters.h"

struct list_page_key {
    int64_t dead_ms; /* 0 where the list runs by number */
    uint64_t seq;
};

bool list_page_by_death(const struct letters_query *query);
/* *has is false on the first page. INVALID when the cursor is none of ours. */
enum status list_page_cursor_parse(const struct letters_query *query, bool *has,
                                   struct list_page_key *out, struct err *err);
struct bytes list_page_cursor(const struct letters_query *query, struct list_page_key last,
                              struct arena *arena);

/* The search text as words; INVALID when there is none in it. */
enum { LIST_PAGE_WORDS_MAX = 16 };
enum status list_page_words(struct bytes text, struct bytes words[LIST_PAGE_WORDS_MAX],
                            size_t *count, struct err *err);

#endif
