/* heap: see the header. */
#include "base/containers/heap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

void heap_free(struct heap *heap) {
    free(heap->nodes);
    *heap = (struct heap){0};
}

static bool before(const struct heap_node *a, const struct heap_node *b) {
    return a->at != b->at ? a->at < b->at : a->tie < b->tie;
}

static void place(struct heap *heap, size_t i, struct heap_node *node) {
    heap->nodes[i] = node;
    node->index = i + 1;
}

static void sift_up(struct heap *heap, size_t i, struct heap_node *node) {
    while (i > 0 && before(node, heap->nodes[(i - 1) / 2])) {
        place(heap, i, heap->nodes[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    place(heap, i, node);
}

static void sift_down(struct heap *heap, size_t i, struct heap_node *node) {
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && before(heap->nodes[child + 1], heap->nodes[child]))
            child++;
        if (!before(heap->nodes[child], node))
            break;
        place(heap, i, heap->nodes[child]);
        i = child;
    }
    place(heap, i, node);
}

void heap_insert(struct heap *heap, struct heap_node *node) {
    assert(node->index == 0);
    if (heap->count == heap->cap) {
        heap->cap = heap->cap ? heap->cap * 2 : 16;
        heap->nodes = memory_grow(heap->nodes, heap->cap * sizeof(struct heap_node *));
    }
    heap->count++;
    sift_up(heap, heap->count - 1, node);
}

void heap_remove(struct heap *heap, struct heap_node *node) {
    if (node->index == 0)
        return;
    size_t i = node->index - 1;
    assert(i < heap->count && heap->nodes[i] == node);
    struct heap_node *last = heap->nodes[--heap->count];
    node->index = 0;
    if (last == node)
        return;
    if (i > 0 && before(last, heap->nodes[(i - 1) / 2]))
        sift_up(heap, i, last);
    else
        sift_down(heap, i, last);
}

struct heap_node *heap_first(const struct heap *heap) {
    return heap->count ? heap->nodes[0] : NULL;
}

struct mono heap_next(const struct heap *heap) {
    const struct heap_node *first = heap_first(heap);
    return first ? (struct mono){first->at} : MONO_NEVER;
}
