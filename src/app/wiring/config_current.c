#include "app/wiring/config_current.h"

#include <stdlib.h>

#include "base/memory.h"

struct config_past {
    struct config_past *next;
    struct config *config;
};

void config_current_init(struct config_current *current, struct config *config) {
    *current = (struct config_current){.config = config, .started = config};
    pthread_rwlock_init(&current->lock, NULL);
}

void config_current_free(struct config_current *current) {
    while (current->past) {
        struct config_past *past = current->past;
        current->past = past->next;
        config_free(past->config);
        free(past);
    }
    config_free(current->config);
    pthread_rwlock_destroy(&current->lock);
}

const struct config *config_current_borrow(struct config_current *current) {
    pthread_rwlock_rdlock(&current->lock);
    return current->config;
}

void config_current_release(struct config_current *current) {
    pthread_rwlock_unlock(&current->lock);
}

void config_current_refuse(struct config_current *current, struct config *config) {
    struct config_past *past = memory_new(sizeof *past);
    *past = (struct config_past){current->past, config};
    current->past = past;
}

void config_current_replace(struct config_current *current, struct config *config) {
    config_current_refuse(current, current->config);
    pthread_rwlock_wrlock(&current->lock);
    current->config = config;
    pthread_rwlock_unlock(&current->lock);
}

/* ---- callbacks of the server ---- */

bool config_current_dlq(void *arg, struct bytes name, struct engine_dlq *out) {
    const struct engine_dlq *dlq = config_find_dlq(config_current_borrow(arg), name);
    if (dlq)
        *out = *dlq;
    config_current_release(arg);
    return dlq != NULL;
}

/* The first queue that sends to the DLQ. */
static struct bytes queue_of(const struct config *config, struct bytes dlq) {
    for (size_t i = 0; i < config->queue_count; i++)
        for (size_t d = 0; d < config->queues[i].dlq_count; d++)
            if (bytes_eq(config->queues[i].dlqs[d].name, dlq))
                return config->queues[i].name;
    return BYTES_NONE;
}

/* A queue has its own runbook, or that of its default DLQ. A DLQ without a runbook has that of the
 * first queue that sends to it. */
static struct bytes runbook_of(const struct config *config, struct bytes dlq) {
    for (size_t i = 0; i < config->queue_count; i++)
        for (size_t d = 0; d < config->queues[i].dlq_count; d++)
            if (bytes_eq(config->queues[i].dlqs[d].name, dlq) && config->queues[i].runbook.len > 0)
                return config->queues[i].runbook;
    return BYTES_NONE;
}

void config_current_about(void *arg, bool dlq, struct bytes name, struct alert_about *out) {
    const struct config *config = config_current_borrow(arg);
    const struct config_queue *queue = dlq ? NULL : config_find_queue(config, name);
    const struct engine_dlq *lot = queue ? &queue->dlqs[0] : config_find_dlq(config, name);
    *out = (struct alert_about){0};
    if (lot)
        *out = (struct alert_about){.owner = lot->owner, .runbook = lot->runbook, .dlq = lot->name};
    out->queue = queue ? queue->name : queue_of(config, name);
    if (queue && queue->runbook.len > 0)
        out->runbook = queue->runbook;
    if (dlq && lot && out->runbook.len == 0)
        out->runbook = runbook_of(config, name);
    config_current_release(arg);
}

static bool live_dlq(void *arg, struct bytes name, struct live_config_dlq *out) {
    struct engine_dlq dlq;
    bool found = config_current_dlq(arg, name, &dlq);
    if (found)
        *out = (struct live_config_dlq){.cap = dlq.cap, .owner = dlq.owner, .archive = dlq.archive};
    return found;
}

static size_t dlq_names(void *arg, struct arena *arena, struct bytes **out) {
    const struct config *config = config_current_borrow(arg);
    size_t count = config->dlq_count;
    *out = arena_alloc(arena, count * sizeof **out);
    for (size_t i = 0; i < count; i++)
        (*out)[i] = config->dlqs[i].dlq->name;
    config_current_release(arg);
    return count;
}

static const struct policy *policy(void *arg, struct bytes name) {
    const struct config_queue *queue = config_find_queue(config_current_borrow(arg), name);
    return queue ? &queue->policy : NULL;
}

static void release(void *arg) {
    config_current_release(arg);
}

/* Handlers are those of the start. */
static bool compensates(void *arg, struct bytes name) {
    const struct config_current *current = arg;
    const struct config_queue *queue = config_find_queue(current->started, name);
    return queue && queue->compensate;
}

struct live_config config_current_view(struct config_current *current) {
    return (struct live_config){.dlq = live_dlq,
                                .dlq_names = dlq_names,
                                .policy = policy,
                                .release = release,
                                .compensates = compensates,
                                .arg = current};
}
