#include "server/known.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/suggest.h"

struct known_queue {
    char *name;
    uint32_t number;
};

struct known {
    size_t count;
    struct known_queue *queues; /* sorted by name */
};

static int by_name(const void *a, const void *b) {
    const struct known_queue *left = a, *right = b;
    return bytes_cmp(bytes_of(left->name), bytes_of(right->name));
}

struct known *known_new(struct engine *engine, struct store *store) {
    struct known *known = memory_new(sizeof *known);
    known->count = engine_queue_count(engine);
    known->queues = memory_array(known->count + 1, sizeof *known->queues);
    for (size_t i = 0; i < known->count; i++) {
        struct engine_queue_view view;
        engine_view_at(engine, i, &view);
        known->queues[i].name = bytes_dup(bytes_of(view.name));
        known->queues[i].number = store->vtable->queue_number(store, bytes_of(view.name));
    }
    qsort(known->queues, known->count, sizeof *known->queues, by_name);
    return known;
}

void known_free(struct known *known) {
    if (!known)
        return;
    for (size_t i = 0; i < known->count; i++)
        free(known->queues[i].name);
    free(known->queues);
    free(known);
}

bool known_find(const struct known *known, struct bytes name, uint32_t *number) {
    size_t from = 0, to = known->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = bytes_cmp(name, bytes_of(known->queues[middle].name));
        if (order == 0) {
            *number = known->queues[middle].number;
            return true;
        }
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return false;
}

struct bytes known_nearest(const struct known *known, struct bytes name) {
    struct suggest nearest = suggest_for(name);
    for (size_t i = 0; i < known->count; i++)
        suggest_try(&nearest, bytes_of(known->queues[i].name));
    return nearest.best;
}
