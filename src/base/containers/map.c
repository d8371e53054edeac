/* map: chained buckets, doubled when full. */
#include "base/containers/map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    MAP_FIRST_SLOTS = 16,
    MAP_AHEAD = 16, /* slots prefetched ahead: nodes are scattered in memory */
};

void map_free(struct map *map) {
    free(map->slots);
    *map = (struct map){0};
}

static struct map_node **slot_of(const struct map *map, uint64_t hash) {
    return &map->slots[hash & (map->slot_count - 1)];
}

static void grow(struct map *map) {
    struct map old = *map;
    map->slot_count = old.slot_count ? old.slot_count * 2 : MAP_FIRST_SLOTS;
    map->slots = memory_array(map->slot_count, sizeof *map->slots);
    for (size_t i = 0; i < old.slot_count; i++) {
        if (i + MAP_AHEAD < old.slot_count)
            __builtin_prefetch(old.slots[i + MAP_AHEAD], 1);
        for (struct map_node *node = old.slots[i], *next; node; node = next) {
            next = node->next;
            struct map_node **slot = slot_of(map, node->hash);
            node->next = *slot;
            *slot = node;
        }
    }
    free(old.slots);
}

void map_insert(struct map *map, struct map_node *node, uint64_t hash) {
    if (map->count >= map->slot_count)
        grow(map);
    struct map_node **slot = slot_of(map, hash);
    node->hash = hash;
    node->next = *slot;
    *slot = node;
    map->count++;
}

void map_remove(struct map *map, struct map_node *node) {
    assert(map->count > 0);
    struct map_node **at = slot_of(map, node->hash);
    while (*at != node) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = node->next;
    map->count--;
}

static struct map_node *same_hash(struct map_node *node, uint64_t hash) {
    while (node && node->hash != hash)
        node = node->next;
    return node;
}

struct map_node *map_first(const struct map *map, uint64_t hash) {
    return map->slot_count ? same_hash(*slot_of(map, hash), hash) : NULL;
}

struct map_node *map_next(const struct map_node *node) {
    return same_hash(node->next, node->hash);
}

void map_each(const struct map *map, void (*visit)(struct map_node *node, void *arg), void *arg) {
    for (size_t i = 0; i < map->slot_count; i++)
        for (struct map_node *node = map->slots[i]; node; node = node->next)
            visit(node, arg);
}

void map_drain(struct map *map, void (*take)(struct map_node *node)) {
    for (size_t i = 0; i < map->slot_count; i++) {
        for (struct map_node *node = map->slots[i], *next; node; node = next) {
            next = node->next;
            take(node);
        }
    }
    map_free(map);
}
