#include "config/config_find.h"

const struct config_queue *config_find_queue(const struct config *config, struct bytes name) {
    for (size_t i = 0; i < config->queue_count; i++)
        if (bytes_eq(config->queues[i].name, name))
            return &config->queues[i];
    return NULL;
}

static const struct config_dlq *find(const struct config *config, struct bytes name) {
    for (size_t i = 0; i < config->dlq_count; i++)
        if (bytes_eq(config->dlqs[i].dlq->name, name))
            return &config->dlqs[i];
    return NULL;
}

const struct engine_dlq *config_find_dlq(const struct config *config, struct bytes name) {
    const struct config_dlq *found = find(config, name);
    return found ? found->dlq : NULL;
}

const struct config_triage *config_find_triage(const struct config *config, struct bytes dlq) {
    const struct config_dlq *found = find(config, dlq);
    return found ? found->triage : NULL;
}
