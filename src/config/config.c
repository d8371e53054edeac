#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/table/config_path.h"
#include "config/config_tables.h"
#include "base/memory.h"

enum { FILE_MAX = 16 << 20, READ_SIZE = 64 << 10, CHUNK_SIZE = 64 << 10 };

/* Read when the queues are known, because `dlqs` overrides their settings. */
static bool read_dlqs_later(struct config_reader *reader, const struct config_node *node,
                            const struct config_field *field, void *out) {
    (void)reader, (void)node, (void)field, (void)out;
    return true;
}

CONFIG_SHOWN(has_queues, struct config, of->queue_count > 0)
CONFIG_SHOWN(has_adopts, struct config, of->adopt_count > 0)

static const struct config_field root_fields[] = {
    CONFIG_WHOLE("server", config_server_read, .table = &config_server_table),
    CONFIG_WHOLE("store", config_server_read_store, .put = config_server_put_store,
                 .reload = CONFIG_RESTART),
    CONFIG_WHOLE("queues", config_queue_read_all, .put = config_queue_put_all, .lines = true,
                 .shown = has_queues, .compare = config_queue_compare_all),
    CONFIG_WHOLE("dlqs", read_dlqs_later, .put = config_dlq_put_all, .lines = true,
                 .note = "every one that a queue can reach", .reload = CONFIG_BESIDE,
                 .behind = "adopt"),
    CONFIG_WHOLE("adopt", config_adopt_read, .put = config_adopt_put, .lines = true,
                 .shown = has_adopts, .reload = CONFIG_RESTART),
    CONFIG_MAPPED("alerts", config_alerts_read, config_alerts_table, struct config, alerts,
                  .reload = CONFIG_RESTART),
};
const struct config_table config_root_table = CONFIG_BLOCK(root_fields);

struct config *config_new(const char *path) {
    struct config *config = memory_new(sizeof *config);
    arena_init_heap(&config->arena, CHUNK_SIZE);
    config->path = arena_dup(&config->arena, bytes_of(path));
    config->dir = config_path_dir(&config->arena, path);
    config_reader_defaults(&config_root_table, config);
    config_server_init(config);
    config_alerts_init(config);
    return config;
}

static void read_root(struct config_reader *reader, const struct config_node *root) {
    config_reader_named(reader, root, &config_root_table, reader->config, BYTES("the top level"));
    if (!config_tree_find(root, "queues") && !config_tree_find(root, "adopt"))
        config_mistake_add(&reader->mistakes, root->at,
                           "there is no \"queues\": expected a mapping of queues by name");
    config_dlq_finish(reader, root);
    config_telemetry_finish(reader);
}

static struct config_reader *reader_new(struct config *config, const char *path) {
    struct config_reader *reader = memory_new(sizeof *reader);
    reader->config = config;
    reader->arena = &config->arena;
    reader->mistakes.path = path;
    reader->mistakes.arena = &config->arena;
    return reader;
}

static enum status reader_end(struct config_reader *reader, struct buf *mistakes) {
    config_mistake_put(&reader->mistakes, mistakes);
    bool good = reader->mistakes.count == 0;
    free(reader);
    return good ? STATUS_OK : STATUS_INVALID;
}

enum status config_parse(struct bytes yaml, const char *path, struct config **out,
                         struct buf *mistakes) {
    *out = config_new(path);
    struct config_reader *reader = reader_new(*out, path);
    const struct config_node *root = config_tree_parse(yaml, &reader->mistakes);
    if (root)
        read_root(reader, root);
    return reader_end(reader, mistakes);
}

static const struct config_field policy_fields[] = {
    CONFIG_WHOLE("classify", config_classify_read),
    CONFIG_MAPPED("retry", config_policy_read_retry, config_retry_table, struct policy, retry),
    CONFIG_MAPPED("breaker", config_policy_read_breaker, config_breaker_table, struct policy,
                  breaker),
    CONFIG_MAPPED("poison", config_policy_read_poison, config_poison_table, struct policy, poison),
};
static const struct config_table policy_table = CONFIG_BLOCK(policy_fields);

enum status config_read_policy(struct config *config, struct bytes yaml, struct policy *policy,
                               struct buf *mistakes) {
    struct config_reader *reader = reader_new(config, config->path.ptr);
    const struct config_node *root = config_tree_parse(yaml, &reader->mistakes);
    if (root)
        config_reader_named(reader, root, &policy_table, policy, BYTES("the policy"));
    return reader_end(reader, mistakes);
}

static enum status read_file(const char *path, struct buf *text, struct buf *mistakes) {
    FILE *file = fopen(path, "rbe");
    if (!file) {
        enum status status = errno == ENOENT ? STATUS_NOT_FOUND : STATUS_INVALID;
        buf_printf(mistakes, "%s: %s\n", path,
                   status == STATUS_NOT_FOUND ? "there is no such file" : strerror(errno));
        return status;
    }
    char piece[READ_SIZE];
    size_t got;
    while ((got = fread(piece, 1, sizeof piece, file)) > 0)
        buf_put(text, piece, got);
    bool failed = ferror(file);
    if (failed)
        buf_printf(mistakes, "%s: %s\n", path, strerror(errno));
    else if (text->overflow)
        buf_printf(mistakes, "%s: larger than %d MiB\n", path, FILE_MAX >> 20);
    fclose(file);
    return failed || text->overflow ? STATUS_INVALID : STATUS_OK;
}

enum status config_load(const char *path, struct config **out, struct buf *mistakes) {
    struct buf text;
    *out = NULL;
    buf_init_heap(&text, FILE_MAX);
    enum status status = read_file(path, &text, mistakes);
    if (status == STATUS_OK)
        status = config_parse(buf_view(&text), path, out, mistakes);
    buf_free(&text);
    return status;
}

void config_free(struct config *config) {
    if (!config)
        return;
    arena_free(&config->arena);
    free(config);
}

const struct config_queue *config_find_queue(const struct config *config, struct bytes name) {
    for (size_t i = 0; i < config->queue_count; i++)
        if (bytes_eq(config->queues[i].name, name))
            return &config->queues[i];
    return NULL;
}

static const struct config_dlq *find_dlq(const struct config *config, struct bytes name) {
    for (size_t i = 0; i < config->dlq_count; i++)
        if (bytes_eq(config->dlqs[i].dlq->name, name))
            return &config->dlqs[i];
    return NULL;
}

const struct engine_dlq *config_find_dlq(const struct config *config, struct bytes name) {
    const struct config_dlq *found = find_dlq(config, name);
    return found ? found->dlq : NULL;
}

const struct config_triage *config_find_triage(const struct config *config, struct bytes dlq) {
    const struct config_dlq *found = find_dlq(config, dlq);
    return found ? found->triage : NULL;
}

/* Room for at least one full batch; no more than the stream workers can have in flight. */
static uint32_t concurrency_of(const struct config_queue *queue) {
    const struct config_handler *handler = &queue->handlers[0];
    uint32_t most = queue->concurrency > handler->batch ? queue->concurrency : handler->batch;
    uint32_t hands = handler->workers * handler->batch;
    return handler->mode == MODE_STREAM && hands < most ? hands : most;
}

struct engine_rules config_rules(const struct config_queue *queue) {
    return (struct engine_rules){.policy = &queue->policy,
                                 .concurrency = concurrency_of(queue),
                                 .dlqs = queue->dlqs,
                                 .dlq_count = queue->dlq_count,
                                 .idempotency = queue->idempotency,
                                 .order = queue->order,
                                 .on_dead_continue = queue->on_dead == ON_DEAD_CONTINUE,
                                 .blocked_limit = queue->blocked_limit,
                                 .flood = queue->flood};
}
