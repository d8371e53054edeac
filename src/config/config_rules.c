#include "config/config.h"

/* Room for one full batch at least; no more than stream workers can have in their hands. */
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
