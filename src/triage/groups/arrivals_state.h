/* arrivals_state: private to the arrivals*.c files. */
#ifndef TRIAGE_GROUPS_ARRIVALS_STATE_H
#define TRIAGE_GROUPS_ARRIVALS_STATE_H

#include <pthread.h>

#include "base/containers/list.h"
#include "base/containers/map.h"
#include "triage/groups/arrivals.h"

#define ARRIVALS_RING_LIST(X)                                                                      \
    X(MINUTES, "1h", 60, 60)                                                                       \
    X(QUARTERS, "24h", 15 * 60, 96)                                                                \
    X(HOURS, "7d", 60 * 60, ARRIVALS_SLOTS_MAX)
#define ARRIVALS_ENUM_RING(code, window, seconds, slots) RING_##code,
enum arrivals_ring_kind { ARRIVALS_RING_LIST(ARRIVALS_ENUM_RING) RING_COUNT };

enum { ARRIVALS_SLOTS_MAX = 168, ARRIVALS_NAME_MAX = 64 };

struct arrivals_ring_shape {
    const char *window;
    int64_t step_ms;
    size_t slots;
};
extern const struct arrivals_ring_shape arrivals_shapes[RING_COUNT];

/* A slot's number is the time since 1970 in steps. */
struct arrivals_ring {
    int64_t newest;
    uint32_t slots[ARRIVALS_SLOTS_MAX];
};

/* A category, by its name, with all rings; or the group of a DLQ, by a name made of both, with
 * hours alone. */
struct arrivals_series {
    struct map_node node;
    struct list link;
    char name[ARRIVALS_NAME_MAX];
    uint64_t total; /* at the last reading */
    struct arrivals_ring rings[RING_COUNT];
};

struct arrivals {
    struct triage *triage;
    pthread_mutex_t mutex; /* guards everything below */
    struct map by_name;
    struct list categories, groups; /* groups: the one with the latest arrival last */
    size_t category_count, group_count;
    struct wall begun; /* when counting began, before any restart */
    struct wall saved;
    bool changed;
};

/* Adds to the slot of `now`. */
void arrivals_ring_add(struct arrivals_ring *ring, enum arrivals_ring_kind kind, struct wall now,
                       uint64_t count);
/* The count in the slot of that number; 0 if the ring does not reach it. */
uint32_t arrivals_ring_at(const struct arrivals_ring *ring, enum arrivals_ring_kind kind,
                          int64_t number);

/* NULL: not found. */
struct arrivals_series *arrivals_find(const struct arrivals *arrivals, struct bytes name);
/* Adds a series to `list`. */
struct arrivals_series *arrivals_add(struct arrivals *arrivals, struct list *list, size_t *count,
                                     struct bytes name);

/* Removes every series. */
void arrivals_clear(struct arrivals *arrivals);

void arrivals_put(const struct arrivals *arrivals, struct buf *out);
/* Reads the text of arrivals_put into empty counters. INVALID: damaged. */
enum status arrivals_take(struct arrivals *arrivals, struct bytes text, struct err *err);

#endif
