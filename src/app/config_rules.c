#include "app/config.h"

struct engine_rules config_rules(const struct config_queue *queue) {
    return (struct engine_rules){.policy = &queue->policy,
                                 .concurrency = queue->concurrency,
                                 .dlqs = queue->dlqs,
                                 .dlq_count = queue->dlq_count,
                                 .idempotency = queue->idempotency,
                                 .order = queue->order,
                                 .on_dead_continue = queue->on_dead == ON_DEAD_CONTINUE,
                                 .blocked_limit = queue->blocked_limit};
}
