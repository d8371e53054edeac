/* What a reload applies: policies, concurrency, DLQ settings and the drain. All else was handed to
 * its owner at the start. */
#include "app/config.h"

static void note(struct buf *out, const char *what) {
    buf_printf(out, "%s changed: restart to apply\n", what);
}

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

static bool same_handler(const struct config_handler *a, const struct config_handler *b) {
    return a->kind == b->kind && a->timeout_ms == b->timeout_ms && bytes_eq(a->url, b->url) &&
           bytes_eq(a->ca_file, b->ca_file) && a->mode == b->mode && a->workers == b->workers &&
           a->max_messages == b->max_messages && a->batch == b->batch &&
           bytes_eq(a->edit, b->edit) && a->reply.store_ms == b->reply.store_ms &&
           bytes_eq(a->reply.url, b->reply.url) && same_argv(a, b) && same_headers(a, b);
}

static bool same_handlers(const struct config_queue *a, const struct config_queue *b) {
    if (a->handler_count != b->handler_count)
        return false;
    for (size_t i = 0; i < a->handler_count; i++)
        if (!same_handler(&a->handlers[i], &b->handlers[i]))
            return false;
    return true;
}

static const struct config_queue *queue_of(const struct config *config, struct bytes name,
                                           size_t guess) {
    if (guess < config->queue_count && bytes_eq(config->queues[guess].name, name))
        return &config->queues[guess];
    for (size_t i = 0; i < config->queue_count; i++)
        if (bytes_eq(config->queues[i].name, name))
            return &config->queues[i];
    return NULL;
}

static const struct config_triage *triage_of(const struct config_queue *queue, struct bytes dlq) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (bytes_eq(queue->dlqs[i].name, dlq))
            return &queue->triage[i];
    return NULL;
}

static bool same_maybe(const struct config_handler *a, const struct config_handler *b) {
    return a && b ? same_handler(a, b) : a == b;
}

/* The checks were made at the start; ages and counts apply at once. */
static bool same_checks(const struct config_queue *a, const struct config_queue *b) {
    for (size_t i = 0; i < b->dlq_count; i++) {
        const struct config_triage *old = triage_of(a, b->dlqs[i].name);
        if (!same_maybe(old ? old->check : NULL, b->triage[i].check))
            return false;
    }
    return true;
}

static void compare_queue(const struct config_queue *old, const struct config_queue *new,
                          struct buf *out) {
    if (!bytes_eq(old->source, new->source))
        buf_printf(out, "queues.%.*s.source changed: restart to apply\n", BYTES_ARG(old->name));
    if (!same_handlers(old, new))
        buf_printf(out, "queues.%.*s.handler changed: restart to apply\n", BYTES_ARG(old->name));
    if (!same_maybe(old->compensate, new->compensate))
        buf_printf(out, "queues.%.*s.compensate changed: restart to apply\n", BYTES_ARG(old->name));
    if (old->order != new->order)
        buf_printf(out, "queues.%.*s.order changed: restart to apply\n", BYTES_ARG(old->name));
    if (!same_checks(old, new))
        buf_printf(out, "queues.%.*s.dlq.fresh.check changed: restart to apply\n",
                   BYTES_ARG(old->name));
}

static void compare_queues(const struct config *old, const struct config *new, struct buf *out) {
    for (size_t i = 0; i < old->queue_count; i++) {
        const struct config_queue *now = queue_of(new, old->queues[i].name, i);
        if (now)
            compare_queue(&old->queues[i], now, out);
        else
            buf_printf(out, "queues.%.*s was removed: restart to apply\n",
                       BYTES_ARG(old->queues[i].name));
    }
    for (size_t i = 0; i < new->queue_count; i++)
        if (!queue_of(old, new->queues[i].name, i))
            buf_printf(out, "queues.%.*s was added: restart to apply\n",
                       BYTES_ARG(new->queues[i].name));
}

void config_restart_needed(const struct config *old, const struct config *new, struct buf *out) {
    if (!bytes_eq(old->listen_host, new->listen_host) || old->listen_port != new->listen_port)
        note(out, "server.listen");
    if (old->max_body != new->max_body)
        note(out, "server.max_body");
    if (old->jq_timeout_ms != new->jq_timeout_ms)
        note(out, "server.jq_timeout");
    if (!bytes_eq(old->store_path, new->store_path))
        note(out, "store");
    compare_queues(old, new, out);
}
