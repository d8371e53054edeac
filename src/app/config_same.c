#include "app/config_same.h"

static bool same_headers(const struct config_handler *a, const struct config_handler *b) {
    if (a->header_count != b->header_count)
        return false;
    for (size_t i = 0; i < a->header_count; i++)
        if (!bytes_eq(a->headers[i].name, b->headers[i].name) ||
            !bytes_eq(a->headers[i].value, b->headers[i].value))
            return false;
    return true;
}

static bool same_argv(const struct config_handler *a, const struct config_handler *b) {
    if (a->argc != b->argc)
        return false;
    for (size_t i = 0; i < a->argc; i++)
        if (!bytes_eq(a->argv[i], b->argv[i]))
            return false;
    return true;
}

bool config_same_handler(const struct config_handler *a, const struct config_handler *b) {
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && a->timeout_ms == b->timeout_ms && bytes_eq(a->url, b->url) &&
           bytes_eq(a->ca_file, b->ca_file) && a->mode == b->mode && a->workers == b->workers &&
           a->max_messages == b->max_messages && a->batch == b->batch &&
           bytes_eq(a->edit, b->edit) && a->reply.store_ms == b->reply.store_ms &&
           bytes_eq(a->reply.url, b->reply.url) && same_argv(a, b) && same_headers(a, b);
}
