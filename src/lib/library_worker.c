/* The same store, engine and core as `impound serve`, with callbacks instead of a server. */
#include "lib/library_worker.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/clock_record.h"
#include "config/table/config_path.h"
#include "broker/sources.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/thread/thread.h"
#include "broker/builtin/builtin.h"
#include "jq/jq_pool.h"
#include "store/disk_posix.h"
#include "store/embedded/sqlite_store.h"
#include "triage/archive/spill_file.h"

enum { MISTAKES_MAX = 64 << 10, JQ_HELPERS = 2 };

struct library_line *library_line(struct impound_worker *worker, const char *queue) {
    const struct config *config = worker->config;
    const struct config_queue *found = config_find_queue(config, bytes_of(queue ? queue : ""));
    return found ? &worker->lines[found - config->queues] : NULL;
}

enum impound_status library_no_queue(const char *queue, struct impound_error *error) {
    return library_fail(error, STATUS_NOT_FOUND, "the configuration has no queue \"%.200s\"",
                        queue ? queue : "");
}

static enum library_stage stage_of(struct impound_worker *worker) {
    pthread_mutex_lock(&worker->mutex);
    enum library_stage stage = worker->stage;
    pthread_mutex_unlock(&worker->mutex);
    return stage;
}

bool library_started(struct impound_worker *worker, struct impound_error *error) {
    if (stage_of(worker) != LIBRARY_OPEN)
        return true;
    library_fail(error, STATUS_INVALID, "the worker was not started yet");
    return false;
}

/* ---- opening ---- */

static bool take_options(const struct impound_worker_options *given,
                         struct impound_worker_options *out, struct impound_error *error) {
    static const struct impound_worker_options init = IMPOUND_WORKER_OPTIONS_INIT;
    *out = init;
    if (given->size >= sizeof given->size)
        memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
    if (!out->config_file == !out->config_text) {
        library_fail(error, STATUS_INVALID,
                     "options: give their size, and one of config_file and config_text");
        return false;
    }
    return true;
}

static enum status load(const struct impound_worker_options *options, struct config **out,
                        struct buf *mistakes) {
    if (options->config_file)
        return config_load(options->config_file, out, mistakes);
    return config_parse(bytes_of(options->config_text), "configuration", out, mistakes);
}

static bool uses_brokers(const struct config_queue *queue) {
    bool mirrors = false;
    for (size_t i = 0; i < queue->dlq_count; i++)
        mirrors |= queue->dlqs[i].mirror.len > 0;
    return mirrors || !bytes_is(queue->source, SOURCES_BUILTIN);
}

/* Refuses settings that a worker does not support, with their position in the file. */
static enum status check_config(const struct config *config, bool jq, struct buf *mistakes) {
    for (size_t i = 0; i < config->queue_count; i++) {
        const struct config_queue *queue = &config->queues[i];
        if (queue->handler_count != 1 || queue->handlers[0].kind != HANDLER_CALLBACK)
            buf_printf(mistakes,
                       "%.*s:%zu: queue \"%.*s\": a library's queue has handler: callback and no "
                       "fallback\n",
                       BYTES_ARG(config->path), queue->line, BYTES_ARG(queue->name));
        if (uses_brokers(queue))
            buf_printf(mistakes,
                       "%.*s:%zu: queue \"%.*s\": a library's queue has source: builtin and no "
                       "mirror\n",
                       BYTES_ARG(config->path), queue->line, BYTES_ARG(queue->name));
    }
    if (config->programs && !jq)
        buf_printf(mistakes,
                   "%.*s:%zu:%zu: jq runs in processes of the impound program: give its path as "
                   "`program`\n",
                   BYTES_ARG(config->path), config->programs->line, config->programs->column);
    if (config->adopt_count > 0)
        buf_printf(mistakes,
                   "%.*s:%zu: dead letters are adopted by impound serve, not by a library\n",
                   BYTES_ARG(config->path), config->adopts[0].line);
    if (config->alerts.receiver_count > 0)
        buf_printf(mistakes, "%.*s: alerts are sent by impound serve, not by a library\n",
                   BYTES_ARG(config->path));
    return mistakes->len ? STATUS_INVALID : STATUS_OK;
}

static enum impound_status read_config(struct impound_worker *worker,
                                       const struct impound_worker_options *options,
                                       struct impound_error *error) {
    struct buf mistakes;
    buf_init_heap(&mistakes, MISTAKES_MAX);
    enum status status = load(options, &worker->config, &mistakes);
    if (status == STATUS_OK)
        status = check_config(worker->config, options->program != NULL, &mistakes);
    enum impound_status told =
        status == STATUS_OK ? IMPOUND_OK : library_mistakes(error, status, &mistakes);
    buf_free(&mistakes);
    return told;
}

static enum status open_store(struct impound_worker *worker, const char *store, struct err *err) {
    static const char scheme[] = "sqlite:";
    struct config *config = worker->config;
    if (store && strncmp(store, scheme, sizeof scheme - 1) != 0)
        return err_set(err, STATUS_INVALID, "store: expected sqlite:PATH, got \"%.200s\"", store);
    if (store)
        config->store_path = config_path_from(
            config, arena_dup(&config->arena, bytes_of(store + sizeof scheme - 1)));
    worker->memory = body_memory_new(config->body_memory);
    struct sqlite_store_options options = {.path = config->store_path.ptr,
                                           .disk = &disk_posix,
                                           .clock = &clock_system,
                                           .memory = worker->memory,
                                           .large_bytes = config->max_body,
                                           .threads = true};
    clock_record_load(options.path, &clock_system);
    enum status status = sqlite_store_open(&options, &worker->store, err);
    if (status == STATUS_OK)
        clock_record_save(options.path, &clock_system);
    return status;
}

static void make_lines(struct impound_worker *worker) {
    const struct config *config = worker->config;
    worker->lines = memory_array(config->queue_count, sizeof *worker->lines);
    for (size_t i = 0; i < config->queue_count; i++)
        worker->lines[i].queue = &config->queues[i];
}

enum impound_status impound_worker_open(const struct impound_worker_options *given,
                                        struct impound_worker **out, struct impound_error *error) {
    struct impound_worker_options options;
    struct err err;
    if (!take_options(given, &options, error))
        return IMPOUND_INVALID;
    if (sodium_init() < 0)
        return library_fail(error, STATUS_INTERNAL, "libsodium does not start");
    struct impound_worker *worker = memory_new(sizeof *worker);
    pthread_mutex_init(&worker->mutex, NULL);
    rng_seed(&worker->rng, random_seed());
    instance_name(worker->instance);
    enum impound_status status = read_config(worker, &options, error);
    if (status == IMPOUND_OK && open_store(worker, options.store, &err) != STATUS_OK)
        status = library_error(error, &err);
    if (status != IMPOUND_OK) {
        impound_worker_free(worker);
        return status;
    }
    make_lines(worker);
    if (options.program)
        worker->jq =
            jq_pool_new(&(struct jq_pool_options){.program = options.program,
                                                  .helpers = JQ_HELPERS,
                                                  .timeout_ms = worker->config->jq_timeout_ms});
    worker->spill = spill_file_new(worker->config->dir);
    *out = worker;
    return IMPOUND_OK;
}

enum impound_status impound_worker_handle(struct impound_worker *worker, const char *queue,
                                          uint32_t threads, impound_handler *handler, void *arg,
                                          struct impound_error *error) {
    struct library_line *line = library_line(worker, queue);
    if (!line)
        return library_no_queue(queue, error);
    if (stage_of(worker) != LIBRARY_OPEN || line->run || !handler)
        return library_fail(error, STATUS_INVALID,
                            "a queue gets one handler, before the worker is started");
    line->run = handler;
    line->arg = arg;
    line->threads = threads ? threads : line->queue->concurrency;
    return IMPOUND_OK;
}

/* ---- starting ---- */

static enum status add_queue(struct impound_worker *worker, size_t place, struct err *err) {
    struct library_line *line = &worker->lines[place];
    const struct config_queue *queue = line->queue;
    uint32_t number = worker->store->vtable->queue_number(worker->store, queue->name);
    struct callback_options callback = {.run = library_message_run,
                                        .arg = line,
                                        .threads = line->threads,
                                        .first_token = (uint64_t)place << LIBRARY_TOKEN_QUEUE_SHIFT,
                                        .clock = &clock_system};
    line->broker = builtin_new(worker->store, number);
    line->handler.handler = callback_new(&callback);
    struct engine_queue_options options = {.name = queue->name,
                                           .rules = config_rules(queue),
                                           .broker = line->broker,
                                           .handlers = &line->handler,
                                           .handler_count = 1};
    return engine_add(worker->engine, &options, err);
}

static enum status make_engine(struct impound_worker *worker, struct err *err) {
    char *attempt_log_path;
    if (asprintf(&attempt_log_path, "%s.d/flight", worker->config->store_path.ptr) < 0)
        abort();
    struct engine_options options = {.store = worker->store,
                                     .clock = &clock_system,
                                     .jq = worker->jq,
                                     .spill = worker->spill,
                                     .memory = worker->memory,
                                     .seed = random_seed(),
                                     .attempt_log_path = attempt_log_path,
                                     .instance = bytes_of(worker->instance)};
    worker->engine = engine_new(&options);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < worker->config->queue_count && status == STATUS_OK; i++)
        status = add_queue(worker, i, err);
    if (status == STATUS_OK)
        status = engine_recover(worker->engine, err);
    free(attempt_log_path);
    return status;
}

static void *engine_thread(void *arg) {
    engine_run(arg);
    return NULL;
}

/* The mutex must be held. */
static enum impound_status start(struct impound_worker *worker, struct impound_error *error) {
    struct err err;
    if (worker->stage != LIBRARY_OPEN)
        return library_fail(error, STATUS_INVALID, "a worker is started once");
    for (size_t i = 0; i < worker->config->queue_count; i++)
        if (!worker->lines[i].run)
            return library_fail(error, STATUS_INVALID, "queue \"%.*s\" has no handler",
                                BYTES_ARG(worker->lines[i].queue->name));
    if (make_engine(worker, &err) != STATUS_OK) {
        worker->stage = LIBRARY_STOPPED;
        return library_error(error, &err);
    }
    thread_start(&worker->engine_thread, "engine", engine_thread, worker->engine);
    worker->stage = LIBRARY_RUNNING;
    return IMPOUND_OK;
}

enum impound_status impound_worker_start(struct impound_worker *worker,
                                         struct impound_error *error) {
    pthread_mutex_lock(&worker->mutex);
    enum impound_status status = start(worker, error);
    pthread_mutex_unlock(&worker->mutex);
    return status;
}

/* ---- stopping ---- */

void impound_worker_stop(struct impound_worker *worker) {
    pthread_mutex_lock(&worker->mutex);
    bool runs = worker->stage == LIBRARY_RUNNING;
    worker->stage = LIBRARY_STOPPED;
    pthread_mutex_unlock(&worker->mutex);
    if (!runs)
        return;
    engine_hold(worker->engine, worker->config->drain_ms);
    engine_stop(worker->engine);
    pthread_join(worker->engine_thread, NULL);
}

static void free_lines(struct impound_worker *worker) {
    for (size_t i = 0; worker->lines && i < worker->config->queue_count; i++) {
        struct library_line *line = &worker->lines[i];
        if (line->handler.handler)
            line->handler.handler->vtable->free(line->handler.handler);
        if (line->broker)
            line->broker->vtable->free(line->broker);
    }
    free(worker->lines);
}

void impound_worker_free(struct impound_worker *worker) {
    if (!worker)
        return;
    impound_worker_stop(worker);
    /* Before the engine is freed, because the store may still report ready messages to it. */
    if (worker->store)
        worker->store->vtable->close(worker->store);
    engine_free(worker->engine);
    free_lines(worker);
    if (worker->jq)
        worker->jq->vtable->free(worker->jq);
    if (worker->spill)
        worker->spill->vtable->free(worker->spill);
    pthread_mutex_destroy(&worker->mutex);
    config_free(worker->config);
    body_memory_free(worker->memory);
    free(worker);
}
