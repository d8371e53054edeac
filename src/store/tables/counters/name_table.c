#include "store/tables/counters/name_table.h"

#include <stdlib.h>

#include "base/containers/list.h"
#include "base/memory.h"

const struct name *name_table_find(const struct name_table *names, struct bytes text) {
    for (struct map_node *node = map_first(&names->map, bytes_hash(text)); node;
         node = map_next(node)) {
        const struct name *name = CONTAINER_OF(node, struct name, node);
        if (bytes_eq(name->text, text))
            return name;
    }
    return NULL;
}

const struct name *name_table_get(struct name_table *names, struct bytes text) {
    if (text.len == 0)
        return NULL;
    const struct name *known = name_table_find(names, text);
    if (known)
        return known;
    struct name *name = memory_new(sizeof *name);
    name->text = (struct bytes){bytes_dup(text), text.len};
    map_insert(&names->map, &name->node, bytes_hash(text));
    return name;
}

static void free_name(struct map_node *node) {
    struct name *name = CONTAINER_OF(node, struct name, node);
    free((char *)name->text.ptr);
    free(name);
}

void name_table_free(struct name_table *names) {
    map_drain(&names->map, free_name);
}
