/* list: the port's list as a SELECT over the SQLite file. */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include "store/sqlite/parts.h"

enum status list_read(struct store *store, const struct store_query *query, struct arena *arena,
                      struct store_page *out, struct err *err);

enum status list_sum(struct store *store, const struct store_query *query, struct store_sum *out,
                     struct err *err);

#endif
