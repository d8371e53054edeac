#include "app/config_find.h"

const struct config_queue *config_find_queue(const struct config *config, struct bytes name) {
    for (size_t i = 0; i < config->queue_count; i++)
        if (bytes_eq(config->queues[i].name, name))
            return &config->queues[i];
    return NULL;
}

static const struct config_queue *reaching(const struct config *config, struct bytes dlq,
                                           size_t *place) {
    for (size_t i = 0; i < config->queue_count; i++) {
        const struct config_queue *queue = &config->queues[i];
        for (*place = 0; *place < queue->dlq_count; ++*place)
            if (bytes_eq(queue->dlqs[*place].name, dlq))
                return queue;
    }
    return NULL;
}

const struct engine_dlq *config_find_dlq(const struct config *config, struct bytes name) {
    size_t place;
    const struct config_queue *queue = reaching(config, name, &place);
    return queue ? &queue->dlqs[place] : NULL;
}

const struct config_triage *config_find_triage(const struct config *config, struct bytes dlq) {
    size_t place;
    const struct config_queue *queue = reaching(config, dlq, &place);
    return queue ? &queue->triage[place] : NULL;
}
