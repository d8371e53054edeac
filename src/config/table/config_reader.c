#include "config/table/config_reader.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/suggest.h"

enum { TEXT_MAX = 1024, FIELDS_MAX = 32 };

struct bytes config_reader_text(struct config_reader *reader, const char *format, ...) {
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return arena_dup(reader->arena, bytes_of(text));
}

struct bytes config_reader_hint(struct config_reader *reader, struct bytes word,
                                const char *const *candidates, size_t count) {
    const char *nearest = suggest_nearest(word, candidates, count);
    return nearest ? config_reader_text(reader, ". Did you mean \"%s\"?", nearest) : BYTES_NONE;
}

struct bytes config_reader_words(struct config_reader *reader, const char *const *words,
                                 size_t count) {
    struct bytes joined = bytes_of(words[0]);
    for (size_t i = 1; i < count; i++)
        joined = config_reader_text(reader, "%.*s%s%s", BYTES_ARG(joined),
                                    i + 1 == count ? " or " : ", ", words[i]);
    return joined;
}

bool config_reader_expected(struct config_reader *reader, const struct config_node *node,
                            const char *what) {
    config_mistake_add(&reader->mistakes, node->at, "%.*s: expected %s, got %.*s",
                       BYTES_ARG(node->key), what,
                       BYTES_ARG(config_tree_shown(reader->arena, node)));
    return false;
}

bool config_reader_not_yet(struct config_reader *reader, struct config_place at,
                           struct bytes what) {
    config_mistake_add(&reader->mistakes, at, "%.*s is not in this version", BYTES_ARG(what));
    return false;
}

bool config_reader_is_mapping(struct config_reader *reader, const struct config_node *node,
                              const char *of) {
    return node->kind == CONFIG_MAPPING || config_reader_expected(reader, node, of);
}

/* The hint has the nearest known key, or else all keys. */
static void add_unknown(struct config_reader *reader, const struct config_node *node,
                        const struct config_table *table) {
    const char *names[FIELDS_MAX];
    size_t count = 0;
    assert(table->count <= FIELDS_MAX);
    for (size_t i = 0; i < table->count; i++)
        if (table->fields[i].read)
            names[count++] = table->fields[i].name;
    struct bytes hint = config_reader_hint(reader, node->key, names, count);
    if (hint.len == 0)
        hint = config_reader_text(reader, ": expected %.*s",
                                  BYTES_ARG(config_reader_words(reader, names, count)));
    config_mistake_add(&reader->mistakes, node->key_at, "unknown key \"%.*s\" in %.*s%.*s",
                       BYTES_ARG(node->key), BYTES_ARG(reader->label), BYTES_ARG(hint));
}

static const struct config_field *field_of(const struct config_table *table, struct bytes name) {
    for (size_t i = 0; i < table->count; i++)
        if (bytes_is(name, table->fields[i].name))
            return &table->fields[i];
    return NULL;
}

static void read_pair(struct config_reader *reader, const struct config_node *node,
                      const struct config_table *table, void *target) {
    const struct config_field *field = field_of(table, node->key);
    if (!field)
        add_unknown(reader, node, table);
    else if (!field->read)
        config_reader_not_yet(reader, node->key_at, node->key);
    else
        field->read(reader, node, field, (char *)target + field->offset);
}

void config_reader_defaults(const struct config_table *table, void *target) {
    for (size_t i = 0; i < table->count; i++) {
        const struct config_field *field = &table->fields[i];
        char *at = (char *)target + field->offset;
        if (field->table)
            config_reader_defaults(field->table, at);
        if (field->usual == 0)
            continue;
        assert(field->size == sizeof(uint32_t) || field->size == sizeof(int64_t));
        if (field->size == sizeof(uint32_t))
            memcpy(at, &(uint32_t){(uint32_t)field->usual}, sizeof(uint32_t));
        else
            memcpy(at, &field->usual, sizeof field->usual);
    }
}

void config_reader_apply(const struct config_table *table, const struct config_node *node,
                         const void *said, void *into) {
    for (size_t i = 0; i < table->count; i++) {
        const struct config_field *field = &table->fields[i];
        const struct config_node *child = config_tree_find(node, field->name);
        const char *from = (const char *)said + field->offset;
        char *to = (char *)into + field->offset;
        if (child && field->merges && child->kind == CONFIG_MAPPING)
            config_reader_apply(field->table, child, from, to);
        else if (child)
            memcpy(to, from, field->size);
    }
}

bool config_reader_named(struct config_reader *reader, const struct config_node *node,
                         const struct config_table *table, void *target, struct bytes label) {
    if (!config_reader_is_mapping(reader, node, "a mapping"))
        return false;
    struct bytes outer = reader->label;
    reader->label = label;
    for (const struct config_node *child = node->first; child; child = child->next)
        read_pair(reader, child, table, target);
    reader->label = outer;
    return true;
}

bool config_reader_mapping(struct config_reader *reader, const struct config_node *node,
                           const struct config_table *table, void *target) {
    struct bytes label = node->key;
    if (reader->label.len)
        label = config_reader_text(reader, "%.*s of %.*s", BYTES_ARG(node->key),
                                   BYTES_ARG(reader->label));
    return config_reader_named(reader, node, table, target, label);
}

bool config_reader_lacks(struct config_reader *reader, const struct config_node *node,
                         const char *key) {
    if (config_tree_find(node, key))
        return false;
    config_mistake_add(&reader->mistakes, node->at, "%.*s has no %s", BYTES_ARG(node->key), key);
    return true;
}
