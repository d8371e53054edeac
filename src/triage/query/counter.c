/* counter: counters by name. See the header. */
#include "triage/query/counter.h"

#include <assert.h>
#include <stdlib.h>

static struct counter_row *find(const struct counter *counter, struct bytes name, uint64_t hash) {
    for (struct map_node *node = map_first(&counter->map, hash); node; node = map_next(node)) {
        struct counter_row *row = (struct counter_row *)(void *)node;
        if (bytes_eq(row->name, name))
            return row;
    }
    return NULL;
}

void counter_count(struct counter *counter, struct bytes name, struct bytes sample,
                   struct arena *arena) {
    assert(counter->row_count <= COUNTER_NAMES_MAX);
    uint64_t hash = bytes_hash(name);
    struct counter_row *row = find(counter, name, hash);
    if (!row && counter->row_count == COUNTER_NAMES_MAX) {
        counter->others++;
        return;
    }
    if (!row) {
        row = arena_alloc(arena, sizeof *row);
        row->name = arena_dup(arena, name);
        row->sample = arena_dup(arena, sample);
        map_insert(&counter->map, &row->node, hash);
        counter->rows[counter->row_count++] = row;
    }
    row->count++;
}

static int most_first(const void *a, const void *b) {
    const struct counter_row *left = *(struct counter_row *const *)a,
                             *right = *(struct counter_row *const *)b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return bytes_cmp(left->name, right->name);
}

void counter_sort(struct counter *counter) {
    assert(counter->row_count == counter->map.count);
    qsort(counter->rows, counter->row_count, sizeof(struct counter_row *), most_first);
}

void counter_free(struct counter *counter) {
    map_free(&counter->map);
}
