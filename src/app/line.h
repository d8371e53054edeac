/* line: one queue's adapters (broker, handlers, mirrors), made from its configuration. */
#ifndef APP_LINE_H
#define APP_LINE_H

#include "config/config.h"
#include "broker/sinks.h"
#include "engine/engine.h"

struct exec_pool;
struct http_pool;

/* What the adapters of all queues share. */
struct line_parts {
    struct config *config;
    struct store *store;
    struct http_pool *http;
    struct exec_pool *exec;
    struct sinks *sinks;
    struct bytes consumer; /* our name at brokers */
    struct body_memory *memory;
};

struct line {
    struct broker *broker;
    struct engine_handler *handlers;
    size_t handler_count;
    struct engine_handler compensate; /* its handler NULL: none */
    struct engine_mirror *mirrors;
    size_t mirror_count;
};

struct handler *line_handler(const struct line_parts *parts, const struct config_handler *config);
/* Makes the queue's adapters and adds it to the engine. What was made is to be freed, also when
 * this fails: the broker by whoever stops brokers, the rest by line_free. */
enum status line_add(struct line *line, const struct line_parts *parts,
                     const struct config_queue *queue, struct engine *engine, struct err *err);
void line_free(struct line *line);

#endif
