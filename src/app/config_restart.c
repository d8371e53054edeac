/* What a reload applies: policies, concurrency, DLQ settings and the drain. All else was handed to
 * its owner at the start. */
#include "app/config.h"
#include "app/config_find.h"
#include "app/config_print_adopt.h"
#include "app/config_print_alerts.h"
#include "app/config_same.h"
#include "app/config_telemetry.h"

enum { SECTION_TEXT_MAX = 1 << 20 };

static void note(struct buf *out, const char *what) {
    buf_printf(out, "%s changed: restart to apply\n", what);
}

static bool same_handlers(const struct config_queue *a, const struct config_queue *b) {
    if (a->handler_count != b->handler_count)
        return false;
    for (size_t i = 0; i < a->handler_count; i++)
        if (!config_same_handler(&a->handlers[i], &b->handlers[i]))
            return false;
    return true;
}

static const struct config_triage *triage_of(const struct config_queue *queue, struct bytes dlq) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (bytes_eq(queue->dlqs[i].name, dlq))
            return &queue->triage[i];
    return NULL;
}

/* The checks were made at the start; ages and counts apply at once. */
static bool same_checks(const struct config_queue *a, const struct config_queue *b) {
    for (size_t i = 0; i < b->dlq_count; i++) {
        const struct config_triage *old = triage_of(a, b->dlqs[i].name);
        if (!config_same_handler(old ? old->check : NULL, b->triage[i].check))
            return false;
    }
    return true;
}

static bool same_mirrors(const struct config_queue *a, const struct config_queue *b) {
    if (a->dlq_count != b->dlq_count)
        return true; /* which DLQs there are applies at once, their mirrors do not */
    for (size_t i = 0; i < b->dlq_count; i++)
        if (!bytes_eq(a->dlqs[i].mirror, b->dlqs[i].mirror))
            return false;
    return true;
}

static void compare_queue(const struct config_queue *old, const struct config_queue *new,
                          struct buf *out) {
    if (!bytes_eq(old->source, new->source))
        buf_printf(out, "queues.%.*s.source changed: restart to apply\n", BYTES_ARG(old->name));
    if (!same_handlers(old, new))
        buf_printf(out, "queues.%.*s.handler changed: restart to apply\n", BYTES_ARG(old->name));
    if (!config_same_handler(old->compensate, new->compensate))
        buf_printf(out, "queues.%.*s.compensate changed: restart to apply\n", BYTES_ARG(old->name));
    if (!same_mirrors(old, new))
        buf_printf(out, "queues.%.*s.dlq.mirror changed: restart to apply\n", BYTES_ARG(old->name));
    if (old->order != new->order)
        buf_printf(out, "queues.%.*s.order changed: restart to apply\n", BYTES_ARG(old->name));
    if (!same_checks(old, new))
        buf_printf(out, "queues.%.*s.dlq.fresh.check changed: restart to apply\n",
                   BYTES_ARG(old->name));
}

static void compare_queues(const struct config *old, const struct config *new, struct buf *out) {
    for (size_t i = 0; i < old->queue_count; i++) {
        const struct config_queue *now = config_find_queue(new, old->queues[i].name);
        if (now)
            compare_queue(&old->queues[i], now, out);
        else
            buf_printf(out, "queues.%.*s was removed: restart to apply\n",
                       BYTES_ARG(old->queues[i].name));
    }
    for (size_t i = 0; i < new->queue_count; i++)
        if (!config_find_queue(old, new->queues[i].name))
            buf_printf(out, "queues.%.*s was added: restart to apply\n",
                       BYTES_ARG(new->queues[i].name));
}

/* A section is the same when it is written the same. */
static bool same_section(const struct config *old, const struct config *new,
                         void (*print)(const struct config *config, struct buf *out)) {
    struct buf before, after;
    buf_init_heap(&before, SECTION_TEXT_MAX);
    buf_init_heap(&after, SECTION_TEXT_MAX);
    print(old, &before);
    print(new, &after);
    bool same = bytes_eq(buf_view(&before), buf_view(&after));
    buf_free(&before);
    buf_free(&after);
    return same;
}

void config_restart_needed(const struct config *old, const struct config *new, struct buf *out) {
    if (!bytes_eq(old->listen_host, new->listen_host) || old->listen_port != new->listen_port)
        note(out, "server.listen");
    if (old->max_body != new->max_body)
        note(out, "server.max_body");
    if (old->body_memory != new->body_memory)
        note(out, "server.body_memory");
    if (old->jq_timeout_ms != new->jq_timeout_ms)
        note(out, "server.jq_timeout");
    if (old->payloads != new->payloads)
        note(out, "server.payloads");
    if (!config_telemetry_same(old, new))
        note(out, "server.telemetry");
    if (!bytes_eq(old->store_path, new->store_path))
        note(out, "store");
    compare_queues(old, new, out);
    if (!same_section(old, new, config_print_adopt))
        note(out, "adopt");
    if (!same_section(old, new, config_print_alerts))
        note(out, "alerts");
}
