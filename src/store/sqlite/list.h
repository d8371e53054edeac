/* list: the port's list as a SELECT over the SQLite file. */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include "store/sqlite/parts.h"

enum status list_read(struct letters *letters, const struct letters_query *query,
                      struct arena *arena, struct letters_page *out, struct err *err);

enum status list_sum(struct letters *letters, const struct letters_query *query,
                     struct letters_sum *out, struct err *err);

#endif
