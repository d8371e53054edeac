#include "config/triage/config_adopt.h"

#include <assert.h>

#include "config/table/config_printer.h"
#include "config/queue/config_queue.h"
#include "config/table/config_value.h"
#include "broker/sources.h"

enum { ADOPTS_MAX = 100 };

static bool read_name(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    struct bytes name;
    if (!config_value_text(reader, node, field, &name) ||
        !config_value_name(reader, node->at, "place in adopt", name, CONFIG_NAME_MAX))
        return false;
    *(struct bytes *)out = name;
    return true;
}

/* An entry with mode peek needs fewer parts of the URL. */
static bool read_source(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    static const char form[] = "a URL such as amqp://127.0.0.1/?queue=orders-dlq";
    struct bytes source;
    struct err err;
    (void)field;
    if (!config_value_string(reader, node, form, &source))
        return false;
    enum status status = sources_check_peek(source, &err);
    if (status == STATUS_NOT_FOUND || bytes_is(source, SOURCES_BUILTIN))
        return config_reader_expected(reader, node, form);
    *(struct bytes *)out = source;
    return config_queue_source_is_right(reader, node, status, &err);
}

static bool can_be_taken(struct config_reader *reader, const struct config_node *node,
                         const struct adopt_entry *entry) {
    struct err err;
    return config_queue_source_is_right(reader, config_tree_find(node, "source"),
                                        sources_check(entry->source, &err), &err);
}

/* May be the name of a queue of another system, with any characters. */
static bool read_queue(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    struct bytes name;
    if (!config_value_text(reader, node, field, &name))
        return false;
    if (name.len > CONFIG_NAME_MAX || !bytes_is_printable(name))
        return config_reader_expected(reader, node, "the name of a queue, at most 200 bytes");
    *(struct bytes *)out = name;
    return true;
}

static const struct config_field adopt_fields[] = {
    CONFIG_TEXT("name", read_name, struct adopt_entry, name),
    CONFIG_TEXT("source", read_source, struct adopt_entry, source),
    CONFIG_TEXT("dlq", config_value_dlq, struct adopt_entry, dlq),
    CONFIG_WORD("mode", struct adopt_entry, mode, adopt_mode_words, .behind = "queue"),
    CONFIG_TEXT("queue", read_queue, struct adopt_entry, queue),
};
const struct config_table config_adopt_table = CONFIG_FLOW(adopt_fields);

/* An entry without a name is named after its source, with the characters that a name may have. */
static struct bytes default_name(struct config_reader *reader, struct bytes source) {
    const char *member;
    struct bytes place = bytes_clip(sources_place(source, reader->arena, &member), CONFIG_NAME_MAX);
    char *name = arena_alloc(reader->arena, place.len + 1);
    for (size_t i = 0; i < place.len; i++)
        name[i] = config_value_name_char(place.ptr[i]) ? place.ptr[i] : '-';
    return (struct bytes){name, place.len};
}

static bool is_named(const struct config *config, struct bytes name) {
    for (size_t i = 0; i < config->adopt_count; i++)
        if (bytes_eq(config->adopts[i].entry.name, name))
            return true;
    return false;
}

static void add(struct config_reader *reader, const struct config_node *node,
                struct adopt_entry *entry) {
    struct config *config = reader->config;
    if (entry->dlq.len == 0)
        entry->dlq = config_reader_text(reader, "%.*s" CONFIG_DLQ_SUFFIX, BYTES_ARG(entry->name));
    if (is_named(config, entry->name))
        config_mistake_add(&reader->mistakes, node->at,
                           "a second entry named \"%.*s\" in adopt: give it a name of its own",
                           BYTES_ARG(entry->name));
    config->adopts[config->adopt_count++] =
        (struct config_adopt){*entry, node->at.line, node->at.column};
}

bool config_adopt_read(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    struct config *config = out;
    (void)field;
    if (node->kind != CONFIG_LIST || node->count > ADOPTS_MAX)
        return config_reader_expected(
            reader, node, "a list of at most 100 entries such as {name: legacy, source: URL}");
    config->adopts = arena_alloc(reader->arena, node->count * sizeof *config->adopts);
    for (const struct config_node *item = node->first; item; item = item->next) {
        struct adopt_entry entry = {.mode = ADOPT_PEEK};
        if (!config_reader_mapping(reader, item, &config_adopt_table, &entry) ||
            config_reader_lacks(reader, item, "source") ||
            (entry.mode == ADOPT_TAKE && !can_be_taken(reader, item, &entry)))
            continue;
        if (!config_tree_find(item, "name"))
            entry.name = default_name(reader, entry.source);
        if (entry.name.len > 0 || !config_reader_lacks(reader, item, "name"))
            add(reader, item, &entry);
    }
    return true;
}

void config_adopt_put(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    const struct config *config = value;
    (void)field;
    static_assert(offsetof(struct config_adopt, entry) == 0, "the table is that of the entry");
    config_printer_items(p, &config_adopt_table, config->adopts, config->adopt_count,
                         sizeof *config->adopts);
}
