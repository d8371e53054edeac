/* config_current: the configuration in force. A reload replaces it while other threads read it.
 * Replaced configurations are freed only at the end, because letters in flight to the store borrow
 * texts from them. */
#ifndef APP_CONFIG_CURRENT_H
#define APP_CONFIG_CURRENT_H

#include <pthread.h>

#include "config/config.h"
#include "port/live_config.h"

struct config_past;

struct config_current {
    struct config *config;
    const struct config *started; /* the first one: the running queues are its queues */
    struct config_past *past;
    pthread_rwlock_t lock;
};

void config_current_init(struct config_current *current, struct config *config_take);
void config_current_free(struct config_current *current);

/* The configuration stays valid until it is released. */
const struct config *config_current_borrow(struct config_current *current);
void config_current_release(struct config_current *current);
/* Puts another configuration in force. */
void config_current_replace(struct config_current *current, struct config *config_take);
/* Keeps a configuration that is not put in force: the engine may already borrow from it. */
void config_current_refuse(struct config_current *current, struct config *config_take);

/* Callbacks; `arg` is the config_current. The texts live as long as it. */
/* The owner and the runbook of a DLQ or a queue. */
void config_current_about(void *arg, bool dlq, struct bytes name, struct alert_about *out);
bool config_current_dlq(void *arg, struct bytes name, struct engine_dlq *out);
/* The configuration in force as a port. */
struct live_config config_current_view(struct config_current *current);

#endif
