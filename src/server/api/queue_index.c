#include "server/api/queue_index.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text/suggest.h"

struct known_queue {
    char *name;
    uint32_t number;
};

struct queue_index {
    size_t count;
    struct known_queue *queues; /* sorted by name */
};

static int by_name(const void *a, const void *b) {
    const struct known_queue *left = a, *right = b;
    return bytes_cmp(bytes_of(left->name), bytes_of(right->name));
}

struct queue_index *queue_index_new(struct engine *engine, struct store *store) {
    struct queue_index *index = memory_new(sizeof *index);
    index->count = engine_queue_count(engine);
    index->queues = memory_array(index->count + 1, sizeof *index->queues);
    for (size_t i = 0; i < index->count; i++) {
        struct engine_queue_view view;
        engine_view_at(engine, i, &view);
        index->queues[i].name = bytes_dup(bytes_of(view.name));
        index->queues[i].number = store->vtable->queue_number(store, bytes_of(view.name));
    }
    qsort(index->queues, index->count, sizeof *index->queues, by_name);
    return index;
}

void queue_index_free(struct queue_index *index) {
    if (!index)
        return;
    for (size_t i = 0; i < index->count; i++)
        free(index->queues[i].name);
    free(index->queues);
    free(index);
}

bool queue_index_find(const struct queue_index *index, struct bytes name, uint32_t *number) {
    size_t from = 0, to = index->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = bytes_cmp(name, bytes_of(index->queues[middle].name));
        if (order == 0) {
            *number = index->queues[middle].number;
            return true;
        }
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return false;
}

struct bytes queue_index_nearest(const struct queue_index *index, struct bytes name) {
    struct suggest nearest = suggest_for(name);
    for (size_t i = 0; i < index->count; i++)
        suggest_try(&nearest, bytes_of(index->queues[i].name));
    return nearest.best;
}
