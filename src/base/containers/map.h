/* map: intrusive hash map. The caller embeds a struct map_node, computes its hash, and compares.
 *
 * Usage: find = map_first(map, hash), then map_next while the node is not the one sought. */
#ifndef BASE_CONTAINERS_MAP_H
#define BASE_CONTAINERS_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_node {
    struct map_node *next;
    uint64_t hash;
};

struct map {
    struct map_node **slots;
    size_t slot_count; /* a power of two, or 0 before the first insert */
    size_t count;
};

void map_free(struct map *map); /* the slots; nodes belong to the caller */
void map_insert(struct map *map, struct map_node *node, uint64_t hash);
void map_remove(struct map *map, struct map_node *node);
/* Nodes of one hash, in no order; NULL at the end. */
struct map_node *map_first(const struct map *map, uint64_t hash);
struct map_node *map_next(const struct map_node *node);
/* Any order; `visit` must not change the map. */
void map_each(const struct map *map, void (*visit)(struct map_node *node, void *arg), void *arg);
/* Gives every node to `take`, which may free it; the map is then empty, its slots freed. */
void map_drain(struct map *map, void (*take)(struct map_node *node));

#endif
