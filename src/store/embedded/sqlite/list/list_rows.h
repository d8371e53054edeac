/* list_rows: letters_list and letters_sum as a SELECT over the SQLite file. */
#ifndef STORE_EMBEDDED_SQLITE_LIST_ROWS_H
#define STORE_EMBEDDED_SQLITE_LIST_ROWS_H

#include "store/embedded/store_internal.h"

enum status list_rows_read(struct letters *letters, const struct letters_query *query,
                           struct arena *arena, struct letters_page *out, struct err *err);

enum status list_rows_sum(struct letters *letters, const struct letters_query *query,
                          struct letters_sum *out, struct err *err);

#endif
