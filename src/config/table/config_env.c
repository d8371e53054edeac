#include "config/table/config_env.h"

#include <stdlib.h>

enum { EXPANDED_MAX = 1 << 20 };

/* A text before its expansion, found by the address of the expanded text. */
struct config_written {
    const char *expanded;
    struct bytes written;
    struct config_written *next;
};

static void remember(struct config_reader *reader, struct bytes expanded, struct bytes written) {
    struct config_written *entry = arena_alloc(reader->arena, sizeof *entry);
    *entry = (struct config_written){expanded.ptr, written, reader->config->written};
    reader->config->written = entry;
}

/* `rest` begins behind "${"; appends the value and removes "NAME}". */
static bool take_name(struct config_reader *reader, const struct config_node *node,
                      struct bytes *rest, struct buf *out) {
    size_t end = bytes_find(*rest, BYTES("}"));
    if (end == rest->len) {
        config_mistake_add(&reader->mistakes, node->at,
                           "%.*s: \"${\" has no \"}\"; write \"$${\" for a plain \"${\"",
                           BYTES_ARG(node->key));
        return false;
    }
    const char *name = arena_cstr(reader->arena, bytes_cut(*rest, 0, end));
    const char *value = getenv(name);
    if (!value) {
        config_mistake_add(&reader->mistakes, node->at,
                           "%.*s: the environment has no ${%s}; set it, or write \"$${\" for a "
                           "plain \"${\"",
                           BYTES_ARG(node->key), name);
        return false;
    }
    buf_str(out, value);
    *rest = bytes_cut(*rest, end + 1, rest->len);
    return true;
}

static bool expand(struct config_reader *reader, const struct config_node *node, struct buf *out) {
    struct bytes rest = node->text;
    while (rest.len) {
        size_t at = bytes_find(rest, BYTES("${"));
        if (at == rest.len) {
            buf_bytes(out, rest);
            return true;
        }
        bool plain = at > 0 && rest.ptr[at - 1] == '$';
        buf_bytes(out, bytes_cut(rest, 0, plain ? at - 1 : at));
        rest = bytes_cut(rest, at + 2, rest.len);
        if (plain)
            buf_str(out, "${");
        else if (!take_name(reader, node, &rest, out))
            return false;
    }
    return true;
}

bool config_env_expand(struct config_reader *reader, const struct config_node *scalar,
                       struct bytes *out) {
    *out = scalar->text;
    if (bytes_find(scalar->text, BYTES("${")) == scalar->text.len)
        return true;
    struct buf buf;
    buf_init_heap(&buf, EXPANDED_MAX);
    bool good = expand(reader, scalar, &buf);
    if (good && buf.overflow) {
        config_mistake_add(&reader->mistakes, scalar->at, "%.*s: longer than %d bytes",
                           BYTES_ARG(scalar->key), EXPANDED_MAX);
        good = false;
    }
    if (good) {
        *out = arena_dup(reader->arena, buf_view(&buf));
        remember(reader, *out, scalar->text);
    }
    buf_free(&buf);
    return good;
}

struct bytes config_env_written(const struct config *config, struct bytes text, struct buf *room) {
    for (const struct config_written *entry = config->written; entry; entry = entry->next)
        if (entry->expanded == text.ptr)
            return entry->written;
    buf_clear(room);
    while (text.len) {
        size_t at = bytes_find(text, BYTES("${"));
        buf_bytes(room, bytes_cut(text, 0, at));
        if (at < text.len)
            buf_str(room, "$${");
        text = bytes_cut(text, at + 2, text.len);
    }
    return buf_view(room);
}
