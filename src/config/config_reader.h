/* config_reader: mappings read by tables (config_table.h).
 *
 * The table reads every key, tells unknown ones with their nearest neighbour, and refuses what this
 * version cannot do yet. */
#ifndef CONFIG_CONFIG_READER_H
#define CONFIG_CONFIG_READER_H

#include "config/config_table.h"
#include "config/config_tree.h"

struct config_reader {
    struct config *config; /* being filled; its arena holds everything */
    struct arena *arena;
    struct config_mistakes mistakes;
    struct bytes label; /* of the mapping being read: `queue "orders"`, `retry of queue "orders"` */
};

/* Gives the mapping's numbers their defaults, also those of mappings in it. */
void config_reader_defaults(const struct config_table *table, void *target);
/* Reads every key of the mapping that the table knows; false when the node is no mapping. */
bool config_reader_mapping(struct config_reader *reader, const struct config_node *node,
                           const struct config_table *table, void *target);
/* The same, with a label of its own instead of "<key> of <label>". */
bool config_reader_named(struct config_reader *reader, const struct config_node *node,
                         const struct config_table *table, void *target, struct bytes label);
/* Copies the values of those keys that the mapping `node` has. */
void config_reader_apply(const struct config_table *table, const struct config_node *node,
                         const void *said, void *into);
/* Adds a mistake when it is none; `of` is what was expected. */
bool config_reader_is_mapping(struct config_reader *reader, const struct config_node *node,
                              const char *of);
/* Adds `<key>: expected <what>, got <shown>` and returns false. */
bool config_reader_expected(struct config_reader *reader, const struct config_node *node,
                            const char *what);
/* Adds a mistake when the mapping, an item of a list, has no such key. */
bool config_reader_lacks(struct config_reader *reader, const struct config_node *node,
                         const char *key);
/* Adds `<what> is not in this version` and returns false. */
bool config_reader_not_yet(struct config_reader *reader, struct config_place at, struct bytes what);
/* Text in the configuration's arena. */
__attribute__((format(printf, 2, 3))) struct bytes config_reader_text(struct config_reader *reader,
                                                                      const char *format, ...);
/* `. Did you mean "x"?` or nothing. */
struct bytes config_reader_hint(struct config_reader *reader, struct bytes word,
                                const char *const *candidates, size_t count);
/* `a, b or c`; at least one. */
struct bytes config_reader_words(struct config_reader *reader, const char *const *words,
                                 size_t count);

#endif
