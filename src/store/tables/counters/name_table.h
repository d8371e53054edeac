/* name_table: interned names of DLQs, categories and reasons, so that entries hold pointers and
 * compare them. A name lives as long as the table. */
#ifndef STORE_TABLES_NAME_TABLE_H
#define STORE_TABLES_NAME_TABLE_H

#include "base/bytes.h"
#include "base/containers/map.h"

struct name {
    struct map_node node;
    struct bytes text; /* followed by a NUL */
};

struct name_table {
    struct map map;
};

/* NULL for an empty text. */
const struct name *name_table_get(struct name_table *names, struct bytes text);
/* NULL if the name is not in the table. */
const struct name *name_table_find(const struct name_table *names, struct bytes text);
void name_table_free(struct name_table *names);

#endif
