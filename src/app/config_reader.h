/* config_reader: mappings read by tables.
 *
 * Each mapping of impound.yaml has one table of its keys. The table reads it, tells unknown keys
 * with their nearest neighbour, refuses what this version cannot do yet, and is what docs/config.md
 * is checked against. */
#ifndef APP_CONFIG_READER_H
#define APP_CONFIG_READER_H

#include "app/config_tree.h"

struct config_reader {
    struct config *config; /* being filled; its arena holds everything */
    struct arena *arena;
    struct config_mistakes mistakes;
    struct bytes label; /* of the mapping being read: `queue "orders"`, `retry of queue "orders"` */
};

struct config_field;

/* Reads one value into `out`. False: it was no such value, a mistake says so, and *out is unchanged
 * or filled in part. */
typedef bool config_read(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out);

struct config_field {
    const char *name;
    config_read *read;        /* NULL: known, but not in this version */
    size_t offset;            /* of what it fills, in the mapping's target */
    int64_t least, most;      /* for numbers and durations */
    const char *const *words; /* for a choice: the word's place is its value */
};

struct config_table {
    const struct config_field *fields;
    size_t count;
};

#define CONFIG_TABLE(fields)                                                                       \
    { (fields), sizeof(fields) / sizeof *(fields) }

/* Rows of a table. A whole row gets the mapping's target itself, to fill several members of it. */
#define CONFIG_NUMBER(name, read, type, member, least, most)                                       \
    { name, read, offsetof(type, member), least, most, NULL }
#define CONFIG_WORD(name, type, member, words)                                                     \
    { name, config_value_word, offsetof(type, member), 0, 0, words }
#define CONFIG_VALUE(name, read, type, member)                                                     \
    { name, read, offsetof(type, member), 0, 0, NULL }
#define CONFIG_WHOLE(name, read)                                                                   \
    { name, read, 0, 0, 0, NULL }
#define CONFIG_NOT_YET(name)                                                                       \
    { name, NULL, 0, 0, 0, NULL }

/* Reads every key of the mapping that the table knows; false when the node is no mapping. */
bool config_reader_mapping(struct config_reader *reader, const struct config_node *node,
                           const struct config_table *table, void *target);
/* The same, with a label of its own instead of "<key> of <label>". */
bool config_reader_named(struct config_reader *reader, const struct config_node *node,
                         const struct config_table *table, void *target, struct bytes label);
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
