/* heap: intrusive binary heap, least `at` first, ties broken by `tie` (give it a start number). */
#ifndef BASE_CONTAINERS_HEAP_H
#define BASE_CONTAINERS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/instant.h"

struct heap_node {
    int64_t at;
    uint64_t tie;
    size_t index; /* position + 1 in the heap, or 0 if it is in no heap */
};

struct heap {
    struct heap_node **nodes;
    size_t count;
    size_t cap;
};

void heap_free(struct heap *heap);
void heap_insert(struct heap *heap, struct heap_node *node);
/* Does nothing if the node is in no heap. */
void heap_remove(struct heap *heap, struct heap_node *node);
struct heap_node *heap_first(const struct heap *heap); /* NULL when empty */
/* For a heap by monotonic time: when its first node is due; MONO_NEVER if empty. */
struct mono heap_next(const struct heap *heap);

#endif
