/* counter: a counter for each of a bounded number of names. */
#ifndef TRIAGE_QUERY_COUNTER_H
#define TRIAGE_QUERY_COUNTER_H

#include "base/arena.h"
#include "base/containers/map.h"

enum { COUNTER_NAMES_MAX = 1000 };

struct counter_row {
    struct map_node node;
    struct bytes name;
    struct bytes sample; /* of the first that was counted */
    uint64_t count;
};

/* Zeroed is empty. Rows are in the arena given to counter_count. */
struct counter {
    struct map map;
    struct counter_row *rows[COUNTER_NAMES_MAX];
    size_t row_count;
    uint64_t others; /* counts of names beyond COUNTER_NAMES_MAX */
};

void counter_count(struct counter *counter, struct bytes name, struct bytes sample,
                   struct arena *arena);
void counter_sort(struct counter *counter); /* most first */
void counter_free(struct counter *counter);

#endif
