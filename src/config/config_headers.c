#include "config/config_headers.h"

#include "config/table/config_value.h"
#include "base/text/http_field.h"
#include "base/percent.h"

static bool read_header(struct config_reader *reader, const struct config_node *node,
                        struct rule_header *out) {
    if (!http_field_is_name(node->key)) {
        config_mistake_add(&reader->mistakes, node->key_at,
                           "\"%.*s\" is not the name of an HTTP header", BYTES_ARG(node->key));
        return false;
    }
    if (!config_value_string(reader, node, "a header's value", &out->value))
        return false;
    if (!http_field_is_value(out->value))
        return config_reader_expected(reader, node, "a header's value on one line");
    out->name = node->key;
    return true;
}

bool config_headers_read(struct config_reader *reader, const struct config_node *node,
                         struct rule_header **out, size_t *count) {
    if (!config_reader_is_mapping(reader, node, "a mapping such as {x-api-key: \"${KEY}\"}"))
        return false;
    if (node->count > CONFIG_HEADERS_MAX)
        return config_reader_expected(reader, node, "at most 64 headers");
    *count = 0;
    *out = arena_alloc(reader->arena, node->count * sizeof **out);
    for (const struct config_node *child = node->first; child; child = child->next)
        if (read_header(reader, child, &(*out)[*count]))
            ++*count;
    return true;
}

static bool parse_item(struct bytes item, struct arena *arena, struct rule_header *out) {
    size_t equals = bytes_find(item, BYTES("="));
    struct bytes name = bytes_trim(bytes_cut(item, 0, equals));
    if (equals == item.len || !http_field_is_name(name) ||
        !percent_decode(bytes_trim(bytes_cut(item, equals + 1, item.len)), arena, &out->value) ||
        !http_field_is_value(out->value))
        return false;
    out->name = arena_dup(arena, name);
    out->value = arena_dup(arena, out->value);
    return true;
}

bool config_headers_parse_list(struct bytes text, struct arena *arena, struct rule_header **out,
                               size_t *count) {
    *out = arena_alloc(arena, CONFIG_HEADERS_MAX * sizeof **out);
    *count = 0;
    while (text.len > 0) {
        size_t comma = bytes_find(text, BYTES(","));
        struct bytes item = bytes_trim(bytes_cut(text, 0, comma));
        text = bytes_cut(text, comma + 1, text.len);
        if (item.len == 0)
            continue;
        if (*count == CONFIG_HEADERS_MAX || !parse_item(item, arena, &(*out)[*count]))
            return false;
        ++*count;
    }
    return true;
}
