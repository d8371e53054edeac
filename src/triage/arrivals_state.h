/* arrivals_state: what the files of the arrivals share and nobody else sees. */
#ifndef TRIAGE_ARRIVALS_STATE_H
#define TRIAGE_ARRIVALS_STATE_H

#include <pthread.h>

#include "base/list.h"
#include "base/map.h"
#include "triage/arrivals.h"

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

/* By the number of a slot: the time since 1970 in steps. */
struct arrivals_ring {
    int64_t newest;
    uint32_t slots[ARRIVALS_SLOTS_MAX];
};

/* A category, by its name, with all rings; or the group of a DLQ, by both, with hours alone. */
struct arrivals_series {
    struct map_node node;
    struct list link;
    char name[ARRIVALS_NAME_MAX];
    uint64_t total; /* at the last reading */
    struct arrivals_ring rings[RING_COUNT];
};

struct arrivals {
    struct triage *triage;
    pthread_mutex_t mutex; /* of what follows */
    struct map by_name;
    struct list categories, groups; /* groups: that to which a letter came last is last */
    size_t category_count, group_count;
    struct wall begun; /* when the counting began, in whichever life */
    struct wall saved;
    bool changed;
};

/* Adds to the slot at `now`; a time before the newest slot counts there. */
void arrivals_ring_add(struct arrivals_ring *ring, enum arrivals_ring_kind kind, struct wall now,
                       uint64_t count);
/* How many came in the slot of that number. */
uint32_t arrivals_ring_at(const struct arrivals_ring *ring, enum arrivals_ring_kind kind,
                          int64_t number);

/* NULL: there is none. */
struct arrivals_series *arrivals_find(const struct arrivals *arrivals, struct bytes name);
/* A new one, in `list`. */
struct arrivals_series *arrivals_add(struct arrivals *arrivals, struct list *list, size_t *count,
                                     struct bytes name);

/* As a new one is. */
void arrivals_clear(struct arrivals *arrivals);

void arrivals_put(const struct arrivals *arrivals, struct buf *out);
/* What arrivals_put wrote, into ones that are empty. INVALID. */
enum status arrivals_take(struct arrivals *arrivals, struct bytes text, struct err *err);

#endif
