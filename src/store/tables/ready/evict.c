#include "store/tables/ready/evict.h"

#include <stdlib.h>

#include "base/memory.h"

struct shedding {
    enum paged_queue_kind kind;
    struct entry **entries;
    size_t count;
};

static void consider(struct shedding *shedding, struct entry *entry) {
    if (paged_queue_of_entry(entry) == shedding->kind)
        shedding->entries[shedding->count++] = entry;
}

/* Collects the entries of a list ordered by seq, or of a heap ordered by time. */
static void collect(struct shedding *shedding, const struct ready_queues *waiting) {
    if (shedding->kind == PAGED_QUEUE_READY) {
        LIST_EACH(node, &waiting->ready)
        consider(shedding, CONTAINER_OF(node, struct entry, link));
        return;
    }
    const struct heap *heap =
        shedding->kind == PAGED_QUEUE_DELAYED ? &waiting->delayed : &waiting->retry;
    for (size_t i = 0; i < heap->count; i++)
        consider(shedding, CONTAINER_OF(heap->nodes[i], struct entry, due));
}

static int by_mark(const void *a, const void *b) {
    struct paged_queue_mark left = paged_queue_mark(*(struct entry *const *)a);
    struct paged_queue_mark right = paged_queue_mark(*(struct entry *const *)b);
    return paged_queue_is_before(left, right) ? -1 : paged_queue_is_before(right, left);
}

/* After a jump of the wall clock, due times and positions are not in the same order. The entries
 * that are due first stay in memory; otherwise a due message would be parked again as soon as it
 * was loaded. */
static int by_turn(const void *a, const void *b) {
    int64_t left = (*(struct entry *const *)a)->due.at;
    int64_t right = (*(struct entry *const *)b)->due.at;
    return left != right ? (left > right) - (left < right) : by_mark(a, b);
}

/* The first entries in order stay in memory, even if entries that cannot be parked fill the paged
 * queue. */
static size_t kept_of(size_t count, const struct paged_queue_bound *bound) {
    size_t few = bound->least / 2 + 1, kept = count / 2 > few ? count / 2 : few;
    return kept < count ? kept : count;
}

static void park(struct ready_queues *waiting, enum paged_queue_kind kind, struct entry *entry) {
    struct paged_queue *lane = &waiting->lanes[kind];
    struct mono due = {kind == PAGED_QUEUE_READY || entry->unscheduled ? 0 : entry->due.at};
    struct paged_queue_mark mark = paged_queue_mark(entry);
    if (!lane->open || paged_queue_is_before(mark, lane->from))
        lane->from = mark;
    lane->open = true;
    ready_queues_remove(waiting, entry);
    paged_queue_park(lane, entry, due);
}

void evict_lane(struct ready_queues *waiting, enum paged_queue_kind kind) {
    struct shedding shedding = {.kind = kind};
    shedding.entries =
        memory_array(ready_queues_in_lane(waiting, kind) + 1, sizeof(struct entry *));
    collect(&shedding, waiting);
    qsort(shedding.entries, shedding.count, sizeof(struct entry *),
          kind == PAGED_QUEUE_READY ? by_mark : by_turn);
    for (size_t i = kept_of(shedding.count, waiting->bound); i < shedding.count; i++)
        park(waiting, kind, shedding.entries[i]);
    size_t left = ready_queues_in_lane(waiting, kind), least = waiting->bound->least;
    waiting->lanes[kind].again = 2 * left > least ? 2 * left : least;
    waiting->bound->shed = true;
    free(shedding.entries);
}
