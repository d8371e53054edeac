/* tally: a counter for each of a bounded number of names. */
#ifndef TRIAGE_QUERY_COUNTER_H
#define TRIAGE_QUERY_COUNTER_H

#include "base/arena.h"
#include "base/containers/map.h"

enum { TALLY_NAMES_MAX = 1000 };

struct tally_row {
    struct map_node node;
    struct bytes name;
    struct bytes sample; /* of the first that was counted */
    uint64_t count;
};

/* Zeroed is empty. Rows are in the arena given to tally_count. */
struct tally {
    struct map map;
    struct tally_row *rows[TALLY_NAMES_MAX];
    size_t row_count;
    uint64_t others; /* counts of names beyond TALLY_NAMES_MAX */
};

void tally_count(struct tally *tally, struct bytes name, struct bytes sample, struct arena *arena);
void tally_sort(struct tally *tally); /* most first */
void tally_free(struct tally *tally);

#endif
