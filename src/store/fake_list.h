/* fake_list: letters_list on the tables alone, by a scan of every message. */
#ifndef STORE_FAKE_LIST_H
#define STORE_FAKE_LIST_H

#include "store/tables/tables.h"

enum status fake_list(const struct tables *tables, const struct letters_query *query,
                      struct arena *arena, struct letters_page *out, struct err *err);

#endif
