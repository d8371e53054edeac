#include "store/shed.h"

#include <stdlib.h>

#include "base/memory.h"

struct shedding {
    enum lane_kind kind;
    struct entry **entries;
    size_t count;
};

static void consider(struct shedding *shedding, struct entry *entry) {
    if (lane_of_entry(entry) == shedding->kind)
        shedding->entries[shedding->count++] = entry;
}

/* What waits in a list by number, or in a heap by time. */
static void collect(struct shedding *shedding, const struct waiting *waiting) {
    if (shedding->kind == LANE_READY) {
        LIST_EACH(node, &waiting->ready)
        consider(shedding, CONTAINER_OF(node, struct entry, link));
        return;
    }
    const struct heap *heap = shedding->kind == LANE_DELAYED ? &waiting->delayed : &waiting->retry;
    for (size_t i = 0; i < heap->count; i++)
        consider(shedding, CONTAINER_OF(heap->nodes[i], struct entry, due));
}

static int by_mark(const void *a, const void *b) {
    struct lane_mark left = lane_mark(*(struct entry *const *)a);
    struct lane_mark right = lane_mark(*(struct entry *const *)b);
    return lane_is_before(left, right) ? -1 : lane_is_before(right, left);
}

void shed_lane(struct waiting *waiting, enum lane_kind kind) {
    struct lane *lane = &waiting->lanes[kind];
    struct shedding shedding = {.kind = kind};
    shedding.entries = memory_array(waiting_in_lane(waiting, kind) + 1, sizeof(struct entry *));
    collect(&shedding, waiting);
    qsort(shedding.entries, shedding.count, sizeof(struct entry *), by_mark);
    size_t kept = shedding.count / 2;
    if (shedding.count > 0) {
        lane->open = true;
        lane->from = lane_mark(shedding.entries[kept]);
    }
    for (size_t i = kept; i < shedding.count; i++) {
        struct entry *entry = shedding.entries[i];
        struct mono due = {kind == LANE_READY || entry->unscheduled ? 0 : entry->due.at};
        waiting_remove(waiting, entry);
        lane_park(lane, entry, due);
    }
    size_t left = waiting_in_lane(waiting, kind);
    lane->again = 2 * left > waiting->bound->least ? 2 * left : waiting->bound->least;
    waiting->bound->shed = true;
    free(shedding.entries);
}
