/* config_table: the keys of one mapping of impound.yaml, a row each.
 *
 * A row says how the value of a key is read (with its range and the text of the mistake), how it is
 * printed, where it is kept, and whether a reload applies it. Reading (config_reader.c), printing
 * and comparing (config_printer.c) and reloading (config_reload.c) walk the tables; so do the tests
 * that compare docs/config.md, the printed form and the reload with them.
 *
 * Two values are equal if they are printed the same, with texts and secrets in full. */
#ifndef CONFIG_CONFIG_TABLE_H
#define CONFIG_CONFIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct config_field;
struct config_node;
struct config_printer;
struct config_reader;

/* Reads one value into `out`. False: the value is wrong, a mistake was added, and *out is unchanged
 * or filled in part. */
typedef bool config_read(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out);
/* Prints a value: behind "key: ", or with `lines` as whole lines below "key:". */
typedef void config_put(struct config_printer *p, const struct config_field *field,
                        const void *value);
/* Whether a key of this mapping is printed. */
typedef bool config_shown(const struct config_printer *p, const struct config_field *field,
                          const void *mapping);
/* Appends a line for each change of a value that needs a restart; `path` names the value. */
typedef void config_compare(struct buf *out, const char *path, const void *old, const void *new);

/* When a changed value takes effect. */
enum config_reload {
    /* By the rows of its table; a row below a value with a setting of its own inherits it. */
    CONFIG_INSIDE,
    CONFIG_LIVE,    /* at a reload */
    CONFIG_RESTART, /* at the next start; a reload reports it */
    CONFIG_BESIDE,  /* with another key of the mapping, which is compared together with it */
};

struct config_field {
    const char *name;
    config_read *read;                /* NULL: known, but not supported in this version */
    config_put *put;                  /* NULL: by its table */
    size_t offset, size;              /* of the value in the mapping; a whole row has size 0 */
    int64_t least, most;              /* for numbers and durations */
    int64_t usual;                    /* the default of a number, unless it is 0 */
    const char *const *words;         /* for a choice: the index of the word is the value */
    const struct config_table *table; /* for a mapping */
    config_shown *shown;              /* NULL: always, or see `optional` */
    bool (*off)(const void *value);   /* true: printed as the word off */
    const char *note;                 /* printed as a comment behind "key:" */
    const char *behind;               /* printed after this key, not at its own position */
    config_compare *compare;          /* NULL: as a whole, or by the rows of the table */
    enum config_reload reload;
    bool optional; /* not printed while it is empty or 0 */
    bool lines;    /* printed as lines below its key */
    bool merges;   /* an entry of `dlqs` overrides single keys of it */
};

struct config_table {
    const struct config_field *fields;
    size_t count;
    bool block; /* printed as one line for each key; else as {a: b, c: d} */
};

#define CONFIG_BLOCK(fields)                                                                       \
    { (fields), sizeof(fields) / sizeof *(fields), true }
#define CONFIG_FLOW(fields)                                                                        \
    { (fields), sizeof(fields) / sizeof *(fields), false }

/* Rows of a table. The variable arguments are designated initialisers: `.reload = CONFIG_LIVE`. */
#define CONFIG_AT(type, member)                                                                    \
    .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)
/* `kind` is one of config_value.h: duration, size, count, large, percent, rate. */
#define CONFIG_NUMBER(key, kind, type, member, lowest, highest, ...)                               \
    {                                                                                              \
        .name = key, .read = config_value_##kind, .put = config_value_put_##kind,                  \
        CONFIG_AT(type, member), .least = lowest, .most = highest, __VA_ARGS__                     \
    }
#define CONFIG_WORD(key, type, member, choice, ...)                                                \
    {                                                                                              \
        .name = key, .read = config_value_word, .put = config_value_put_word,                      \
        CONFIG_AT(type, member), .words = choice, __VA_ARGS__                                      \
    }
/* A struct bytes, printed unless it is empty. */
#define CONFIG_TEXT(key, reader, type, member, ...)                                                \
    {                                                                                              \
        .name = key, .read = reader, .put = config_value_put_text, CONFIG_AT(type, member),        \
        .optional = true, __VA_ARGS__                                                              \
    }
#define CONFIG_OTHER(key, reader, printer, type, member, ...)                                      \
    { .name = key, .read = reader, .put = printer, CONFIG_AT(type, member), __VA_ARGS__ }
#define CONFIG_MAPPED(key, reader, mapping, type, member, ...)                                     \
    { .name = key, .read = reader, .table = &mapping, CONFIG_AT(type, member), __VA_ARGS__ }
/* The reader gets the mapping itself, to fill or print several members of it. */
#define CONFIG_WHOLE(key, reader, ...)                                                             \
    { .name = key, .read = reader, __VA_ARGS__ }
/* A config_shown: whether the key is printed, computed from the mapping, `of`. */
#define CONFIG_SHOWN(function, type, expression)                                                   \
    static bool function(const struct config_printer *p, const struct config_field *field,         \
                         const void *mapping) {                                                    \
        const type *of = mapping;                                                                  \
        (void)p, (void)field;                                                                      \
        return expression;                                                                         \
    }
#define CONFIG_NOT_YET(key)                                                                        \
    { .name = key }

#endif
