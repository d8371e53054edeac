/* config_tree: YAML text as a tree in which every node has its position.
 *
 * All values are texts here; their reader interprets them. Keys of a mapping are unique. An alias
 * is a copy of its anchor's node that shares its children, so aliases cannot make a document grow
 * exponentially; no alias can be inside its own anchor. */
#ifndef CONFIG_CONFIG_TREE_H
#define CONFIG_CONFIG_TREE_H

#include "config/table/config_mistake.h"
#include "base/containers/map.h"

enum config_node_kind { CONFIG_NOTHING, CONFIG_SCALAR, CONFIG_LIST, CONFIG_MAPPING };

struct config_node {
    enum config_node_kind kind;
    struct config_place at;     /* of the value */
    struct config_place key_at; /* of its key; in a list, of the value */
    struct bytes key;           /* in a list: "delays[1]"; empty at the root */
    struct bytes text;          /* of a scalar */
    bool plain;                 /* the scalar has no quotes */
    struct config_node *first, *last, *next;
    size_t count; /* of children */
    struct map_node by_key;
};

/* The root is a mapping. NULL: the text is not such YAML; the mistakes have the reason. */
struct config_node *config_tree_parse(struct bytes yaml, struct config_mistakes *mistakes);
/* NULL when the mapping has no such key. */
const struct config_node *config_tree_find(const struct config_node *mapping, const char *key);
/* The node's value, for the end of a sentence: "ten" in quotes, a list, a mapping, nothing. */
struct bytes config_tree_shown(struct arena *arena, const struct config_node *node);

#endif
