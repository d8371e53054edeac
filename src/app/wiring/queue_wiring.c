#include "app/wiring/queue_wiring.h"

#include <stdlib.h>

#include "broker/sources.h"
#include "base/memory.h"
#include "base/random.h"
#include "broker/builtin/builtin.h"
#include "handler/exec/exec.h"
#include "handler/http/http.h"
#include "handler/stream/stream.h"

static struct handler *make_exec(const struct queue_wiring_parts *parts,
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

struct handler *queue_wiring_handler(const struct queue_wiring_parts *parts,
                                     const struct config_handler *config) {
    if (config->kind == HANDLER_EXEC)
        return make_exec(parts, config);
    struct http_options options = {.url = config->url,
                                   .timeout_ms = config->timeout_ms,
                                   .headers = config->headers,
                                   .header_count = config->header_count,
                                   .ca_file = config->ca_file};
    return http_new(parts->http, &options);
}

static struct engine_reply reply_of(const struct queue_wiring_parts *parts,
                                    const struct config_reply *reply) {
    return (struct engine_reply){
        .store_ms = reply->store_ms,
        .sink = reply->url.len ? sinks_get(parts->sinks, reply->url, &clock_system) : NULL};
}

static struct broker *make_broker(const struct queue_wiring_parts *parts,
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

static void make_mirrors(const struct queue_wiring_parts *parts, const struct config_queue *queue,
                         struct queue_wiring *wiring) {
    wiring->mirrors = memory_array(queue->dlq_count, sizeof *wiring->mirrors);
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (queue->dlqs[i].mirror.len)
            wiring->mirrors[wiring->mirror_count++] = (struct engine_mirror){
                queue->dlqs[i].name, sinks_get(parts->sinks, queue->dlqs[i].mirror, &clock_system)};
}

enum status queue_wiring_add(struct queue_wiring *wiring, const struct queue_wiring_parts *parts,
                             const struct config_queue *queue, struct engine *engine,
                             struct err *err) {
    wiring->broker = make_broker(parts, queue);
    wiring->handlers = memory_array(queue->handler_count, sizeof *wiring->handlers);
    bool leases = queue->policy.handler == HANDLER_LEASE; /* workers fetch the messages */
    for (size_t i = 0; !leases && i < queue->handler_count; i++)
        wiring->handlers[wiring->handler_count++] =
            (struct engine_handler){.handler = queue_wiring_handler(parts, &queue->handlers[i]),
                                    .batch = queue->handlers[i].batch,
                                    .timeout_ms = queue->handlers[i].timeout_ms,
                                    .edit = queue->handlers[i].edit,
                                    .version = queue->handlers[i].version,
                                    .reply = reply_of(parts, &queue->handlers[i].reply)};
    if (queue->compensate)
        wiring->compensate =
            (struct engine_handler){.handler = queue_wiring_handler(parts, queue->compensate),
                                    .batch = 1,
                                    .edit = queue->compensate->edit,
                                    .version = queue->compensate->version};
    make_mirrors(parts, queue, wiring);
    struct engine_queue_options options = {
        .name = queue->name,
        .mirrors = wiring->mirrors,
        .mirror_count = wiring->mirror_count,
        .compensate = queue->compensate ? &wiring->compensate : NULL,
        .lease_reply = reply_of(parts, &queue->handlers[0].reply),
        .rules = config_rules(queue),
        .broker = wiring->broker,
        .group = sources_group(queue->source, &parts->config->arena),
        .handlers = wiring->handlers,
        .handler_count = wiring->handler_count};
    return engine_add(engine, &options, err);
}

void queue_wiring_free(struct queue_wiring *wiring) {
    for (size_t i = 0; i < wiring->handler_count; i++)
        wiring->handlers[i].handler->vtable->free(wiring->handlers[i].handler);
    if (wiring->compensate.handler)
        wiring->compensate.handler->vtable->free(wiring->compensate.handler);
    free(wiring->handlers);
    free(wiring->mirrors);
}
