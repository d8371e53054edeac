/* config_reader: reads mappings by tables (config_table.h).
 *
 * A table has every key; unknown keys are reported with the nearest known one, and keys that this
 * version does not support yet are refused. */
#ifndef CONFIG_CONFIG_READER_H
#define CONFIG_CONFIG_READER_H

#include "config/table/config_table.h"
#include "config/table/config_tree.h"

struct config_reader {
    struct config *config; /* being filled in; its arena holds all texts */
    struct arena *arena;
    struct config_mistakes mistakes;
    /* Name of the mapping being read: `queue "orders"`, `retry of queue "orders"`. */
    struct bytes label;
};

/* Sets the defaults of the mapping's numbers, also those of mappings in it. */
void config_reader_defaults(const struct config_table *table, void *target);
/* Reads every key of the mapping that the table knows; false if the node is not a mapping. */
bool config_reader_mapping(struct config_reader *reader, const struct config_node *node,
                           const struct config_table *table, void *target);
/* The same, with a label of its own instead of "<key> of <label>". */
bool config_reader_named(struct config_reader *reader, const struct config_node *node,
                         const struct config_table *table, void *target, struct bytes label);
/* Copies the values of those keys that the mapping `node` has. */
void config_reader_apply(const struct config_table *table, const struct config_node *node,
                         const void *said, void *into);
/* Adds a mistake if the node is not a mapping; `of` is the expected value. */
bool config_reader_is_mapping(struct config_reader *reader, const struct config_node *node,
                              const char *of);
/* Adds `<key>: expected <what>, got <shown>` and returns false. */
bool config_reader_expected(struct config_reader *reader, const struct config_node *node,
                            const char *what);
/* Adds a mistake if the mapping, an item of a list, has no such key. */
bool config_reader_lacks(struct config_reader *reader, const struct config_node *node,
                         const char *key);
/* Adds `<what> is not in this version` and returns false. */
bool config_reader_not_yet(struct config_reader *reader, struct config_place at, struct bytes what);
/* A formatted text in the configuration's arena. */
__attribute__((format(printf, 2, 3))) struct bytes config_reader_text(struct config_reader *reader,
                                                                      const char *format, ...);
/* `. Did you mean "x"?` or an empty text. */
struct bytes config_reader_hint(struct config_reader *reader, struct bytes word,
                                const char *const *candidates, size_t count);
/* `a, b or c`; at least one. */
struct bytes config_reader_words(struct config_reader *reader, const char *const *words,
                                 size_t count);

#endif
