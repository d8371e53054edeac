/* fake_list: the port's list over the tables alone, by looking at every message. */
#ifndef STORE_FAKE_LIST_H
#define STORE_FAKE_LIST_H

#include "store/tables/tables.h"

enum status fake_list(const struct tables *tables, const struct letters_query *query,
                      struct arena *arena, struct letters_page *out, struct err *err);

#endif
