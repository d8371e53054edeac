#include "config/queue/config_queue.h"

#include <stdio.h>

#include "config/queue/config_classify.h"
#include "config/triage/config_dlq.h"
#include "config/queue/config_handler.h"
#include "config/queue/config_policy.h"
#include "config/table/config_printer.h"
#include "config/table/config_reload.h"
#include "config/queue/config_reply.h"
#include "config/triage/config_triage.h"
#include "config/table/config_value.h"
#include "broker/sources.h"
#include "base/json/json_path.h"
#include "core/comeback.h"

enum {
    CONCURRENCY = 32,
    CONCURRENCY_MOST = 10000,
    BLOCKED_LIMIT = 1000,
    BLOCKED_LIMIT_MOST = 10000000,
    KEY_MAX = 256
};
#define DAY_MS         (24LL * 3600 * 1000)
#define EXPIRE_MOST_MS (3650LL * 24 * 3600 * 1000)

static bool leases(const struct config_queue *queue) {
    return queue->policy.handler == HANDLER_LEASE;
}

static const char source_form[] = "builtin, or a URL such as redis://127.0.0.1/0?list=orders";

/* ${NAME} has been expanded, so the mistake does not quote a URL: it may contain a password. */
bool config_queue_source_is_right(struct config_reader *reader, const struct config_node *node,
                                  enum status status, const struct err *err) {
    if (status == STATUS_NOT_FOUND)
        return config_reader_expected(reader, node, source_form);
    if (status == STATUS_NOT_YET)
        config_mistake_add(&reader->mistakes, node->at, "%s", err->text);
    else if (status != STATUS_OK)
        config_mistake_add(&reader->mistakes, node->at, "source: this URL is not right: %s",
                           err->text);
    return status == STATUS_OK;
}

bool config_queue_read_source(struct config_reader *reader, const struct config_node *node,
                              const struct config_field *field, void *out) {
    struct bytes text;
    struct err err;
    (void)field;
    if (!config_value_string(reader, node, source_form, &text))
        return false;
    *(struct bytes *)out = text;
    return config_queue_source_is_right(reader, node, sources_check(text, &err), &err);
}

/* `out` is the whole queue, whose handlers[0] exists. */
static bool read_fallback(struct config_reader *reader, const struct config_node *node,
                          const struct config_field *field, void *out) {
    struct config_queue *queue = out;
    if (node->kind != CONFIG_LIST || node->count > CONFIG_FALLBACKS_MAX)
        return config_reader_expected(reader, node, "a list of at most 8 handlers");
    if (leases(queue)) {
        config_mistake_add(&reader->mistakes, node->key_at,
                           "fallback: a queue whose workers lease has none");
        return false;
    }
    for (const struct config_node *item = node->first; item; item = item->next) {
        struct config_handler *handler = &queue->handlers[queue->handler_count];
        if (!config_handler_read(reader, item, field, handler))
            continue;
        if (handler->kind == HANDLER_LEASE)
            config_reader_expected(reader, item, "{http: URL} or {exec: [COMMAND]}");
        queue->handler_count++;
    }
    return true;
}

static bool read_handler(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    struct config_queue *queue = out;
    return config_handler_read(reader, node, field, &queue->handlers[0]);
}

/* The fallbacks are compared together with the handler: a change of any of them needs a restart. */
static void put_handler(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct config_queue *queue = value;
    config_handler_put(p, field, &queue->handlers[0]);
    for (size_t i = 1; !p->config && i < queue->handler_count; i++)
        config_handler_put(p, field, &queue->handlers[i]);
}

static void put_fallback(struct config_printer *p, const struct config_field *field,
                         const void *value) {
    const struct config_queue *queue = value;
    for (size_t i = 1; i < queue->handler_count; i++) {
        config_printer_indent(p);
        buf_str(p->out, "- ");
        config_handler_put(p, field, &queue->handlers[i]);
        buf_char(p->out, '\n');
    }
}

CONFIG_SHOWN(has_fallback, struct config_queue, of->handler_count > 1)

/* Letters are compensated one at a time, and the answers are not kept. */
static bool read_compensate(struct config_reader *reader, const struct config_node *node,
                            const struct config_field *field, void *out) {
    struct config_queue *queue = out;
    struct config_handler *handler = arena_alloc(reader->arena, sizeof *handler);
    if (!config_handler_read(reader, node, field, handler))
        return false;
    if (handler->kind != HANDLER_HTTP && handler->kind != HANDLER_EXEC)
        return config_reader_expected(reader, node, "{http: URL} or {exec: [COMMAND]}");
    if (handler->batch > 1 || config_reply_is_given(&handler->reply)) {
        config_mistake_add(&reader->mistakes, node->key_at,
                           "compensate: it has neither batch nor reply");
        return false;
    }
    if (leases(queue)) {
        config_mistake_add(&reader->mistakes, node->key_at,
                           "compensate: a queue whose workers lease has none");
        return false;
    }
    queue->compensate = handler;
    return true;
}

static void put_compensate(struct config_printer *p, const struct config_field *field,
                           const void *value) {
    config_handler_put(p, field, ((const struct config_queue *)value)->compensate);
}

CONFIG_SHOWN(compensates, struct config_queue, of->compensate)

/* ---- order ---- */

static const char *const order_words[] = {[ORDER_NONE] = "none", [ORDER_KEY] = "key", NULL};
static const char *const on_dead_words[] = {
    [ON_DEAD_CLOSE] = "close", [ON_DEAD_CONTINUE] = "continue", NULL};

static bool read_path(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    struct bytes path;
    struct err err;
    (void)field;
    if (!config_value_string(reader, node, "a path into the body such as .order_id", &path))
        return false;
    if (json_path_check(path, &err) != STATUS_OK) {
        config_mistake_add(&reader->mistakes, node->at, "key: %s", err.text);
        return false;
    }
    *(struct bytes *)out = path;
    return true;
}

static const struct config_field idempotency_fields[] = {
    CONFIG_TEXT("key", read_path, struct engine_idempotency, path),
    CONFIG_TEXT("header", config_value_text, struct engine_idempotency, header),
    CONFIG_NUMBER("dedupe", duration, struct engine_idempotency, dedupe_ms, 1, 3650 * DAY_MS,
                  .usual = DAY_MS),
};
const struct config_table config_idempotency_table = CONFIG_FLOW(idempotency_fields);

static bool read_idempotency(struct config_reader *reader, const struct config_node *node,
                             const struct config_field *field, void *out) {
    (void)field;
    if (!config_reader_is_mapping(reader, node,
                                  "a mapping such as {key: .order_id, dedupe: 24h}") ||
        !config_reader_mapping(reader, node, &config_idempotency_table, out))
        return false;
    bool key = config_tree_find(node, "key"), header = config_tree_find(node, "header");
    if (key == header)
        config_mistake_add(&reader->mistakes, node->key_at,
                           "idempotency: expected one of key (a path into the body) and header");
    return true;
}

static void check_order(struct config_reader *reader, const struct config_node *node,
                        const struct config_queue *queue) {
    static const char *const keys[] = {"on_dead", "blocked_limit"};
    for (size_t i = 0; queue->order == ORDER_NONE && i < 2; i++) {
        const struct config_node *child = config_tree_find(node, keys[i]);
        if (child)
            config_mistake_add(&reader->mistakes, child->key_at,
                               "%s: it is for queues with order: key", keys[i]);
    }
}

/* Workers that lease have no limit of concurrency here. */
CONFIG_SHOWN(has_limit, struct config_queue, of->concurrency != ENGINE_UNLIMITED)
CONFIG_SHOWN(has_order, struct config_queue, of->order == ORDER_KEY)
CONFIG_SHOWN(is_idempotent, struct config_queue,
             of->idempotency.path.len > 0 || of->idempotency.header.len > 0)

static const struct config_field queue_fields[] = {
    CONFIG_TEXT("source", config_queue_read_source, struct config_queue, source,
                .reload = CONFIG_RESTART),
    CONFIG_WHOLE("handler", read_handler, .put = put_handler, .reload = CONFIG_RESTART),
    CONFIG_WHOLE("fallback", read_fallback, .put = put_fallback, .lines = true,
                 .shown = has_fallback, .reload = CONFIG_BESIDE),
    CONFIG_NUMBER("concurrency", count, struct config_queue, concurrency, 1, CONCURRENCY_MOST,
                  .usual = CONCURRENCY, .shown = has_limit, .reload = CONFIG_LIVE),
    CONFIG_MAPPED("classify", config_classify_read, config_classify_table, struct config_queue,
                  policy, .reload = CONFIG_LIVE),
    CONFIG_MAPPED("retry", config_policy_read_retry, config_retry_table, struct config_queue,
                  policy.retry, .reload = CONFIG_LIVE),
    CONFIG_MAPPED("breaker", config_policy_read_breaker, config_breaker_table, struct config_queue,
                  policy.breaker, .off = config_policy_breaker_is_off, .reload = CONFIG_LIVE),
    CONFIG_MAPPED("poison", config_policy_read_poison, config_poison_table, struct config_queue,
                  policy.poison, .reload = CONFIG_LIVE),
    CONFIG_NUMBER("expire", duration, struct config_queue, policy.expire_ms, 1, EXPIRE_MOST_MS,
                  .optional = true, .reload = CONFIG_LIVE),
    CONFIG_MAPPED("flood", config_policy_read_flood, config_flood_table, struct config_queue, flood,
                  .reload = CONFIG_LIVE),
    CONFIG_TEXT("runbook", config_value_text, struct config_queue, runbook, .reload = CONFIG_LIVE),
    CONFIG_WHOLE("dlq", config_dlq_read, .put = config_dlq_put_routes, .lines = true,
                 .shown = config_dlq_has_routes, .compare = config_dlq_compare, .behind = "replay"),
    CONFIG_WORD("order", struct config_queue, order, order_words, .reload = CONFIG_RESTART),
    CONFIG_WORD("on_dead", struct config_queue, on_dead, on_dead_words, .shown = has_order,
                .reload = CONFIG_LIVE),
    CONFIG_NUMBER("blocked_limit", count, struct config_queue, blocked_limit, 0, BLOCKED_LIMIT_MOST,
                  .usual = BLOCKED_LIMIT, .shown = has_order, .reload = CONFIG_LIVE),
    CONFIG_MAPPED("idempotency", read_idempotency, config_idempotency_table, struct config_queue,
                  idempotency, .shown = is_idempotent, .reload = CONFIG_LIVE),
    CONFIG_WHOLE("replay", config_triage_read_replay, .table = &config_replay_table),
    CONFIG_WHOLE("compensate", read_compensate, .put = put_compensate, .shown = compensates,
                 .reload = CONFIG_RESTART, .behind = "handler"),
    CONFIG_NOT_YET("encryption"),
    CONFIG_NOT_YET("redaction"),
};
const struct config_table config_queue_table = CONFIG_BLOCK(queue_fields);

static const struct config_node *child_of(const struct config_node *node, const char *key) {
    return node->kind == CONFIG_MAPPING ? config_tree_find(node, key) : NULL;
}

/* Some defaults depend on the handler, which may come after their keys in the file. */
static enum handler_class handler_class_of(const struct config_node *queue) {
    const struct config_node *handler = child_of(queue, "handler");
    enum handler_class word;
    if (handler && config_handler_word(handler, &word))
        return word;
    if (handler && child_of(handler, "lease"))
        return HANDLER_LEASE;
    return handler && child_of(handler, "exec") ? HANDLER_EXEC : HANDLER_HTTP;
}

static void init_queue(struct config_reader *reader, const struct config_node *node,
                       struct config_queue *queue) {
    queue->name = node->key;
    queue->line = node->key_at.line;
    queue->source = BYTES(SOURCES_BUILTIN);
    flood_policy_init(&queue->flood);
    const struct config_node *fallback = child_of(node, "fallback");
    size_t handlers = 1 + (fallback ? fallback->count : 0);
    queue->handlers = arena_alloc(reader->arena, handlers * sizeof *queue->handlers);
    queue->handler_count = 1;
    struct bytes dlq = config_reader_text(reader, "%.*s" CONFIG_DLQ_SUFFIX, BYTES_ARG(node->key));
    policy_init(&queue->policy, queue->name, dlq, handler_class_of(node));
    config_reader_defaults(&config_queue_table, queue);
    if (leases(queue))
        queue->concurrency = ENGINE_UNLIMITED;
    config_dlq_init(reader, queue);
}

/* Answers of all handlers of a queue are kept alike, unless a fallback has a setting of its own or
 * gives no answers. */
static void share_reply(struct config_queue *queue) {
    const struct config_reply *first = &queue->handlers[0].reply;
    for (size_t i = 1; i < queue->handler_count; i++) {
        struct config_reply *reply = &queue->handlers[i].reply;
        if (!config_reply_is_given(reply) && queue->handlers[i].batch == 1)
            *reply = *first;
    }
}

static void read_queue(struct config_reader *reader, const struct config_node *node,
                       struct config_queue *queue) {
    init_queue(reader, node, queue);
    config_value_name(reader, node->key_at, "queue", node->key, CONFIG_NAME_MAX);
    if (bytes_is(node->key, COMEBACK_ORIGIN))
        config_mistake_add(&reader->mistakes, node->key_at,
                           "a queue cannot be called \"origin\": a replay `to: origin` means where "
                           "a letter came from; choose another name");
    struct bytes label = config_reader_text(reader, "queue \"%.*s\"", BYTES_ARG(node->key));
    if (!config_reader_named(reader, node, &config_queue_table, queue, label))
        return;
    check_order(reader, node, queue);
    share_reply(queue);
    if (!config_tree_find(node, "handler"))
        config_mistake_add(&reader->mistakes, node->key_at,
                           "queue \"%.*s\" has no handler: expected " CONFIG_HANDLER_FORM,
                           BYTES_ARG(node->key));
}

bool config_queue_read_all(struct config_reader *reader, const struct config_node *node,
                           const struct config_field *field, void *out) {
    (void)field;
    struct config *config = out;
    if (node->kind != CONFIG_MAPPING || node->count == 0 || node->count > CONFIG_QUEUES_MAX)
        return config_reader_expected(reader, node, "a mapping of 1 to 10000 queues by name");
    config->queues = arena_alloc(reader->arena, node->count * sizeof *config->queues);
    for (const struct config_node *child = node->first; child; child = child->next)
        read_queue(reader, child, &config->queues[config->queue_count++]);
    return true;
}

void config_queue_put_all(struct config_printer *p, const struct config_field *field,
                          const void *value) {
    const struct config *config = value;
    (void)field;
    for (size_t i = 0; i < config->queue_count; i++) {
        config_printer_indent(p);
        config_printer_key(p, config->queues[i].name, ":\n");
        p->indent++;
        config_printer_mapping(p, &config_queue_table, &config->queues[i]);
        p->indent--;
    }
}

void config_queue_compare_all(struct buf *out, const char *path, const void *old, const void *new) {
    const struct config *before = old, *after = new;
    char key[KEY_MAX];
    for (size_t i = 0; i < before->queue_count; i++) {
        const struct config_queue *queue = &before->queues[i];
        const struct config_queue *now = config_find_queue(after, queue->name);
        snprintf(key, sizeof key, "%s.%.*s", path, BYTES_ARG(queue->name));
        if (now)
            config_reload_compare(out, key, &config_queue_table, queue, now);
        else
            buf_printf(out, "%s was removed: restart to apply\n", key);
    }
    for (size_t i = 0; i < after->queue_count; i++)
        if (!config_find_queue(before, after->queues[i].name))
            buf_printf(out, "%s.%.*s was added: restart to apply\n", path,
                       BYTES_ARG(after->queues[i].name));
}
