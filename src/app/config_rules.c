#include "app/config.h"

struct engine_rules config_rules(const struct config_queue *queue) {
    return (struct engine_rules){.policy = &queue->policy,
                                 .concurrency = queue->concurrency,
                                 .dlqs = queue->dlqs,
                                 .dlq_count = queue->dlq_count};
}
