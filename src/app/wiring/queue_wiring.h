/* queue_wiring: one queue's adapters (broker, handlers, mirrors), made from its configuration. */
#ifndef APP_QUEUE_WIRING_H
#define APP_QUEUE_WIRING_H

#include "config/config.h"
#include "broker/sinks.h"
#include "engine/engine.h"

struct exec_pool;
struct http_pool;

/* Shared by the adapters of all queues. */
struct queue_wiring_parts {
    struct config *config;
    struct store *store;
    struct http_pool *http;
    struct exec_pool *exec;
    struct sinks *sinks;
    struct bytes consumer; /* the consumer name used at brokers */
    struct body_memory *memory;
};

struct queue_wiring {
    struct broker *broker;
    struct engine_handler *handlers;
    size_t handler_count;
    struct engine_handler compensate; /* its handler NULL: none */
    struct engine_mirror *mirrors;
    size_t mirror_count;
};

struct handler *queue_wiring_handler(const struct queue_wiring_parts *parts,
                                     const struct config_handler *config);
/* Creates the queue's adapters and adds the queue to the engine. Also after a failure, the caller
 * frees the adapters: the broker through its vtable, the others with queue_wiring_free. */
enum status queue_wiring_add(struct queue_wiring *wiring, const struct queue_wiring_parts *parts,
                             const struct config_queue *queue, struct engine *engine,
                             struct err *err);
void queue_wiring_free(struct queue_wiring *wiring);

#endif
