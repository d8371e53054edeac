#include "broker/rabbitmq/rabbit_properties.h"

#include <stdlib.h>

#include "base/memory.h"
#include "broker/rabbitmq/rabbit_connection.h"
#include "broker/rabbitmq/rabbit_table.h"
#include "core/envelope/envelope.h"

enum {
    TEXT_MAX = RABBIT_FRAME_MAX * 8,   /* of one header: JSON of what came in one frame */
    ENCODED_FIRST = 1024,              /* bytes; doubles up to … */
    ENCODED_MAX = 2 * RABBIT_FRAME_MAX /* … this */
};

/* The named properties that are texts; `again`: they go along when the message is sent back. */
static const struct text_property {
    const char *name;
    amqp_flags_t flag;
    size_t offset;
    bool again;
} text_properties[] = {
#define TEXT(name, flag, again)                                                                    \
    { #name, AMQP_BASIC_##flag##_FLAG, offsetof(amqp_basic_properties_t, name), again }
    TEXT(content_encoding, CONTENT_ENCODING, true),
    TEXT(correlation_id, CORRELATION_ID, true),
    TEXT(reply_to, REPLY_TO, true),
    TEXT(expiration, EXPIRATION, false),
    TEXT(message_id, MESSAGE_ID, true),
    TEXT(type, TYPE, true),
    TEXT(user_id, USER_ID, false),
    TEXT(app_id, APP_ID, true),
    TEXT(cluster_id, CLUSTER_ID, false),
#undef TEXT
};

enum { TEXT_PROPERTY_COUNT = sizeof text_properties / sizeof *text_properties };

static amqp_bytes_t *text_of(amqp_basic_properties_t *properties, const struct text_property *p) {
    return (amqp_bytes_t *)(void *)((char *)properties + p->offset);
}

bool rabbit_properties_is_broker(struct bytes name) {
    static const char *const own[] = {"x-death", "x-delivery-count", "x-acquired-count"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (bytes_is(name, own[i]))
            return true;
    return bytes_starts(name, BYTES("x-first-death-")) ||
           bytes_starts(name, BYTES("x-last-death-"));
}

/* They differ in each delivery, so that they do not identify the message. */
static bool is_count(struct bytes name) {
    return bytes_is(name, "x-delivery-count") || bytes_is(name, "x-acquired-count");
}

static bool is_set(const amqp_basic_properties_t *properties, amqp_flags_t flag) {
    return (properties->_flags & flag) != 0;
}

static amqp_table_t table_of(const amqp_basic_properties_t *properties) {
    return is_set(properties, AMQP_BASIC_HEADERS_FLAG) ? properties->headers : amqp_empty_table;
}

/* ---- as texts ---- */

struct texts {
    struct arena *arena;
    struct rule_header *out;
    size_t count, max;
};

static void add(struct texts *texts, struct bytes name, struct bytes value) {
    if (texts->count == texts->max)
        return;
    for (size_t i = 0; i < texts->count; i++)
        if (bytes_eq(texts->out[i].name, name))
            return;
    texts->out[texts->count++] =
        (struct rule_header){arena_dup(texts->arena, name), arena_dup(texts->arena, value)};
}

static void add_number(struct texts *texts, const char *name, uint64_t number) {
    char text[24];
    struct buf out;
    buf_init_fixed(&out, text, sizeof text);
    buf_printf(&out, "%llu", (unsigned long long)number);
    add(texts, bytes_of(name), buf_view(&out));
}

static void add_table(struct texts *texts, const amqp_table_t *table) {
    struct buf text;
    buf_init_heap(&text, TEXT_MAX);
    for (int i = 0; i < table->num_entries; i++) {
        struct bytes name = rabbit_text(table->entries[i].key);
        if (is_count(name) || bytes_is(name, RABBIT_PROPERTIES_KEY))
            continue;
        buf_clear(&text);
        rabbit_table_text(&table->entries[i].value, &text);
        add(texts, name, buf_view(&text));
    }
    buf_free(&text);
}

size_t rabbit_properties_texts(const amqp_basic_properties_t *properties, struct arena *arena,
                               struct rule_header *out, size_t max) {
    struct texts texts = {arena, out, 0, max};
    amqp_basic_properties_t copy = *properties;
    for (size_t i = 0; i < TEXT_PROPERTY_COUNT; i++)
        if (is_set(properties, text_properties[i].flag))
            add(&texts, bytes_of(text_properties[i].name),
                rabbit_text(*text_of(&copy, &text_properties[i])));
    if (is_set(properties, AMQP_BASIC_PRIORITY_FLAG))
        add_number(&texts, "priority", properties->priority);
    if (is_set(properties, AMQP_BASIC_TIMESTAMP_FLAG))
        add_number(&texts, "timestamp", properties->timestamp);
    amqp_table_t table = table_of(properties);
    add_table(&texts, &table);
    return texts.count;
}

/* ---- as bytes ---- */

static amqp_table_t without_counts(const amqp_table_t *table, struct arena *arena) {
    amqp_table_t out = {0, NULL};
    if (table->num_entries > 0)
        out.entries = arena_alloc(arena, (size_t)table->num_entries * sizeof *out.entries);
    for (int i = 0; i < table->num_entries; i++)
        if (!is_count(rabbit_text(table->entries[i].key)))
            out.entries[out.num_entries++] = table->entries[i];
    return out;
}

struct bytes rabbit_properties_encode(const amqp_basic_properties_t *properties,
                                      struct arena *arena) {
    amqp_basic_properties_t copy = *properties;
    amqp_table_t table = table_of(properties);
    copy.headers = without_counts(&table, arena);
    if (copy.headers.num_entries == 0)
        copy._flags &= ~(amqp_flags_t)AMQP_BASIC_HEADERS_FLAG;
    for (size_t size = ENCODED_FIRST; size <= ENCODED_MAX; size *= 2) {
        void *memory = arena_alloc(arena, size);
        int len = amqp_encode_properties(AMQP_BASIC_CLASS, &copy, (amqp_bytes_t){size, memory});
        if (len >= 0)
            return (struct bytes){memory, (size_t)len};
    }
    return BYTES_NONE;
}

/* Type, channel and size (7), class, weight and the body's size (12), an end (1). */
bool rabbit_properties_fit(const amqp_basic_properties_t *properties, int frame_max, char *room) {
    enum { AROUND = 7 + 12 + 1 };
    amqp_basic_properties_t copy = *properties;
    size_t size = (size_t)frame_max - AROUND;
    return amqp_encode_properties(AMQP_BASIC_CLASS, &copy, (amqp_bytes_t){size, room}) >= 0;
}

/* ---- to publish ---- */

struct entries {
    amqp_table_entry_t *out;
    int count;
};

static void add_text_entry(struct entries *entries, struct bytes name, struct bytes value) {
    entries->out[entries->count++] = (amqp_table_entry_t){
        .key = rabbit_bytes(name),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = rabbit_bytes(value)}};
}

static const amqp_field_value_t *find_kept(const amqp_table_t *kept, struct bytes name) {
    for (int i = 0; i < kept->num_entries; i++)
        if (bytes_eq(rabbit_text(kept->entries[i].key), name))
            return &kept->entries[i].value;
    return NULL;
}

static bool says(const amqp_field_value_t *value, struct bytes text) {
    struct buf said;
    buf_init_heap(&said, TEXT_MAX);
    rabbit_table_text(value, &said);
    bool same = bytes_eq(buf_view(&said), text);
    buf_free(&said);
    return same;
}

static bool has_entry(const amqp_table_t *table, const amqp_table_entry_t *wanted,
                      struct bytes text) {
    for (int i = 0; i < table->num_entries; i++)
        if (bytes_eq(rabbit_text(table->entries[i].key), rabbit_text(wanted->key)) &&
            says(&table->entries[i].value, text))
            return true;
    return false;
}

static bool has_table(const amqp_table_t *table, const amqp_table_t *wanted) {
    struct buf text;
    bool found = true;
    buf_init_heap(&text, TEXT_MAX);
    for (int i = 0; found && i < wanted->num_entries; i++) {
        buf_clear(&text);
        rabbit_table_text(&wanted->entries[i].value, &text);
        found = has_entry(table, &wanted->entries[i], buf_view(&text));
    }
    buf_free(&text);
    return found;
}

bool rabbit_properties_has(const amqp_basic_properties_t *properties,
                           const amqp_basic_properties_t *wanted) {
    amqp_table_t table = table_of(properties), wanted_table = table_of(wanted);
    if (is_set(wanted, AMQP_BASIC_MESSAGE_ID_FLAG) &&
        (!is_set(properties, AMQP_BASIC_MESSAGE_ID_FLAG) ||
         !bytes_eq(rabbit_text(properties->message_id), rabbit_text(wanted->message_id))))
        return false;
    return has_table(&table, &wanted_table);
}

static bool is_named_property(struct bytes name) {
    for (size_t i = 0; i < TEXT_PROPERTY_COUNT; i++)
        if (bytes_is(name, text_properties[i].name))
            return true;
    return bytes_is(name, "priority") || bytes_is(name, "timestamp");
}

static bool routes_elsewhere(struct bytes name) {
    return bytes_is(name, "CC") || bytes_is(name, "BCC");
}

static void add_header(struct entries *entries, const struct rule_header *header,
                       const amqp_table_t *kept) {
    const amqp_field_value_t *as_it_was = find_kept(kept, header->name);
    if (header->name.len > RABBIT_URL_NAME_MAX || rabbit_properties_is_broker(header->name) ||
        routes_elsewhere(header->name))
        return;
    if (as_it_was && says(as_it_was, header->value))
        entries->out[entries->count++] =
            (amqp_table_entry_t){rabbit_bytes(header->name), *as_it_was};
    else
        add_text_entry(entries, header->name, header->value);
}

#define CORRELATION_ID "correlation_id"

/* For a message without kept properties, such as a mirrored letter: its correlation id stays the
 * property that consumers look at. */
static void name_correlation(const struct sink_item *item, amqp_basic_properties_t *out) {
    for (size_t i = 0; i < item->header_count; i++) {
        struct bytes value = item->headers[i].value;
        if (!bytes_is(item->headers[i].name, CORRELATION_ID) || value.len > RABBIT_URL_NAME_MAX)
            continue;
        out->correlation_id = rabbit_bytes(value);
        out->_flags |= AMQP_BASIC_CORRELATION_ID_FLAG;
    }
}

static bool is_named(struct bytes name, bool named, const amqp_basic_properties_t *out) {
    return named ? is_named_property(name)
                 : is_set(out, AMQP_BASIC_CORRELATION_ID_FLAG) && bytes_is(name, CORRELATION_ID);
}

/* `named`: some of the headers are named properties, which are set already. */
static void make_table(const struct sink_item *item, bool named, const amqp_table_t *kept,
                       amqp_pool_t *pool, amqp_basic_properties_t *out) {
    struct entries entries = {amqp_pool_alloc(pool, (item->header_count + 1) * sizeof *entries.out),
                              0};
    if (!entries.out)
        abort();
    for (size_t i = 0; i < item->header_count; i++)
        if (!is_named(item->headers[i].name, named, out))
            add_header(&entries, &item->headers[i], kept);
    if (item->key.ptr)
        add_text_entry(&entries, BYTES(RABBIT_PROPERTIES_KEY), item->key);
    out->headers = (amqp_table_t){entries.count, entries.out};
    out->_flags |= AMQP_BASIC_HEADERS_FLAG;
}

static void keep_named(amqp_basic_properties_t *kept, amqp_basic_properties_t *out) {
    for (size_t i = 0; i < TEXT_PROPERTY_COUNT; i++) {
        const struct text_property *property = &text_properties[i];
        if (!property->again || !is_set(kept, property->flag))
            continue;
        *text_of(out, property) = *text_of(kept, property);
        out->_flags |= property->flag;
    }
    if (is_set(kept, AMQP_BASIC_PRIORITY_FLAG))
        out->priority = kept->priority;
    if (is_set(kept, AMQP_BASIC_TIMESTAMP_FLAG))
        out->timestamp = kept->timestamp;
    out->_flags |= kept->_flags & (AMQP_BASIC_PRIORITY_FLAG | AMQP_BASIC_TIMESTAMP_FLAG);
}

void rabbit_properties_make(const struct sink_item *item, struct bytes kept_bytes,
                            amqp_pool_t *pool, amqp_basic_properties_t *out) {
    amqp_basic_properties_t none = {0}, *kept = &none;
    void *decoded = NULL;
    if (kept_bytes.len &&
        amqp_decode_properties(AMQP_BASIC_CLASS, pool, rabbit_bytes(kept_bytes), &decoded) >= 0)
        kept = decoded;
    *out = (amqp_basic_properties_t){._flags = AMQP_BASIC_DELIVERY_MODE_FLAG,
                                     .delivery_mode = AMQP_DELIVERY_PERSISTENT};
    keep_named(kept, out);
    bool goes_back = item->origin.len && decoded; /* as it came, without an id if it had none */
    if (!goes_back && !is_set(out, AMQP_BASIC_MESSAGE_ID_FLAG) &&
        item->id.len <= RABBIT_URL_NAME_MAX) {
        out->message_id = rabbit_bytes(item->id);
        out->_flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
    }
    bool had_type = !decoded || is_set(kept, AMQP_BASIC_CONTENT_TYPE_FLAG);
    if (had_type && item->content_type.len && item->content_type.len <= RABBIT_URL_NAME_MAX) {
        out->content_type = rabbit_bytes(item->content_type);
        out->_flags |= AMQP_BASIC_CONTENT_TYPE_FLAG;
    }
    if (!decoded)
        name_correlation(item, out);
    amqp_table_t table = table_of(kept);
    make_table(item, decoded != NULL, &table, pool, out);
}
