#include "app/config_same.h"

#include "app/config_headers.h"

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
           bytes_eq(a->edit, b->edit) && bytes_eq(a->version, b->version) &&
           a->reply.store_ms == b->reply.store_ms && bytes_eq(a->reply.url, b->reply.url) &&
           same_argv(a, b) &&
           config_headers_same(a->headers, a->header_count, b->headers, b->header_count);
}
