#include "app/line.h"

#include <stdlib.h>

#include "broker/sources.h"
#include "base/memory.h"
#include "base/random.h"
#include "broker/builtin/builtin.h"
#include "handler/exec.h"
#include "handler/http.h"
#include "handler/stream.h"

static struct handler *make_exec(const struct line_parts *parts,
                                 const struct config_handler *config) {
    struct stream_options options = {.exec = {.argv = config->argv,
                                              .argc = config->argc,
                                              .cwd = parts->config->dir,
                                              .timeout_ms = config->timeout_ms},
                                     .workers = config->workers,
                                     .max_messages = config->max_messages};
    return config->mode == MODE_STREAM ? stream_new(parts->exec, &options)
                                       : exec_new(parts->exec, &options.exec);
}

struct handler *line_handler(const struct line_parts *parts, const struct config_handler *config) {
    if (config->kind == HANDLER_EXEC)
        return make_exec(parts, config);
    struct http_options options = {.url = config->url,
                                   .timeout_ms = config->timeout_ms,
                                   .headers = config->headers,
                                   .header_count = config->header_count,
                                   .ca_file = config->ca_file};
    return http_new(parts->http, &options);
}

static struct engine_reply reply_of(const struct line_parts *parts,
                                    const struct config_reply *reply) {
    return (struct engine_reply){
        .store_ms = reply->store_ms,
        .sink = reply->url.len ? sinks_get(parts->sinks, reply->url, &clock_system) : NULL};
}

static struct broker *make_broker(const struct line_parts *parts,
                                  const struct config_queue *queue) {
    if (bytes_is(queue->source, SOURCES_BUILTIN))
        return builtin_new(parts->store,
                           parts->store->vtable->queue_number(parts->store, queue->name));
    struct broker_options options = {.url = queue->source,
                                     .queue = queue->name,
                                     .instance = parts->consumer,
                                     .clock = &clock_system,
                                     .seed = random_seed(),
                                     .max_body = parts->config->max_body,
                                     .memory = parts->memory};
    return sources_new(&options);
}

static void make_mirrors(const struct line_parts *parts, const struct config_queue *queue,
                         struct line *line) {
    line->mirrors = memory_array(queue->dlq_count, sizeof *line->mirrors);
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (queue->dlqs[i].mirror.len)
            line->mirrors[line->mirror_count++] = (struct engine_mirror){
                queue->dlqs[i].name, sinks_get(parts->sinks, queue->dlqs[i].mirror, &clock_system)};
}

enum status line_add(struct line *line, const struct line_parts *parts,
                     const struct config_queue *queue, struct engine *engine, struct err *err) {
    line->broker = make_broker(parts, queue);
    line->handlers = memory_array(queue->handler_count, sizeof *line->handlers);
    bool leases = queue->policy.handler == HANDLER_LEASE; /* then workers come and fetch */
    for (size_t i = 0; !leases && i < queue->handler_count; i++)
        line->handlers[line->handler_count++] =
            (struct engine_handler){.handler = line_handler(parts, &queue->handlers[i]),
                                    .batch = queue->handlers[i].batch,
                                    .timeout_ms = queue->handlers[i].timeout_ms,
                                    .edit = queue->handlers[i].edit,
                                    .version = queue->handlers[i].version,
                                    .reply = reply_of(parts, &queue->handlers[i].reply)};
    if (queue->compensate)
        line->compensate =
            (struct engine_handler){.handler = line_handler(parts, queue->compensate),
                                    .batch = 1,
                                    .edit = queue->compensate->edit,
                                    .version = queue->compensate->version};
    make_mirrors(parts, queue, line);
    struct engine_queue_options options = {
        .name = queue->name,
        .mirrors = line->mirrors,
        .mirror_count = line->mirror_count,
        .compensate = queue->compensate ? &line->compensate : NULL,
        .lease_reply = reply_of(parts, &queue->handlers[0].reply),
        .rules = config_rules(queue),
        .broker = line->broker,
        .group = sources_group(queue->source, &parts->config->arena),
        .handlers = line->handlers,
        .handler_count = line->handler_count};
    return engine_add(engine, &options, err);
}

void line_free(struct line *line) {
    for (size_t i = 0; i < line->handler_count; i++)
        line->handlers[i].handler->vtable->free(line->handlers[i].handler);
    if (line->compensate.handler)
        line->compensate.handler->vtable->free(line->compensate.handler);
    free(line->handlers);
    free(line->mirrors);
}
