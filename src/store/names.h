/* names: each DLQ, category and reason once, so that entries hold pointers and compare them. A name
 * lives as long as the table. */
#ifndef STORE_NAMES_H
#define STORE_NAMES_H

#include "base/bytes.h"
#include "base/map.h"

struct name {
    struct map_node node;
    struct bytes text; /* NUL behind it */
};

struct names {
    struct map map;
};

/* NULL for an empty text. */
const struct name *names_get(struct names *names, struct bytes text);
/* NULL when nobody ever asked for it. */
const struct name *names_find(const struct names *names, struct bytes text);
void names_free(struct names *names);

#endif
