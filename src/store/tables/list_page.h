/* list_page: cursors, order and search words of lists.
 *
 * Lists of letters are ordered by dead_at, all other lists by seq; newest first, or oldest first. A
 * cursor identifies the last row of the previous page, so that rows that arrive between two pages
 * shift nothing. */
#ifndef STORE_TABLES_LIST_PAGE_H
#define STORE_TABLES_LIST_PAGE_H

#include "port/letters.h"

struct list_page_key {
    int64_t dead_ms; /* 0 if the list is ordered by seq */
    uint64_t seq;
};

bool list_page_by_death(const struct letters_query *query);
/* *has is false on the first page. INVALID if the cursor is not one of list_page_cursor. */
enum status list_page_cursor_parse(const struct letters_query *query, bool *has,
                                   struct list_page_key *out, struct err *err);
struct bytes list_page_cursor(const struct letters_query *query, struct list_page_key last,
                              struct arena *arena);

/* Splits the search text into words; INVALID if it has none. */
enum { LIST_PAGE_WORDS_MAX = 16 };
enum status list_page_words(struct bytes text, struct bytes words[LIST_PAGE_WORDS_MAX],
                            size_t *count, struct err *err);

#endif
