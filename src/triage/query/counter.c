/* tally: counters by name. See the header. */
#include "triage/query/counter.h"

#include <assert.h>
#include <stdlib.h>

static struct tally_row *find(const struct tally *tally, struct bytes name, uint64_t hash) {
    for (struct map_node *node = map_first(&tally->map, hash); node; node = map_next(node)) {
        struct tally_row *row = (struct tally_row *)(void *)node;
        if (bytes_eq(row->name, name))
            return row;
    }
    return NULL;
}

void tally_count(struct tally *tally, struct bytes name, struct bytes sample, struct arena *arena) {
    assert(tally->row_count <= TALLY_NAMES_MAX);
    uint64_t hash = bytes_hash(name);
    struct tally_row *row = find(tally, name, hash);
    if (!row && tally->row_count == TALLY_NAMES_MAX) {
        tally->others++;
        return;
    }
    if (!row) {
        row = arena_alloc(arena, sizeof *row);
        row->name = arena_dup(arena, name);
        row->sample = arena_dup(arena, sample);
        map_insert(&tally->map, &row->node, hash);
        tally->rows[tally->row_count++] = row;
    }
    row->count++;
}

static int most_first(const void *a, const void *b) {
    const struct tally_row *left = *(struct tally_row *const *)a,
                           *right = *(struct tally_row *const *)b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return bytes_cmp(left->name, right->name);
}

void tally_sort(struct tally *tally) {
    assert(tally->row_count == tally->map.count);
    qsort(tally->rows, tally->row_count, sizeof(struct tally_row *), most_first);
}

void tally_free(struct tally *tally) {
    map_free(&tally->map);
}
