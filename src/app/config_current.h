/* config_current: the configuration in force, which a reload replaces while others read it. Those
 * before it are kept until the end: letters on their way to the store borrow from them. */
#ifndef APP_CONFIG_CURRENT_H
#define APP_CONFIG_CURRENT_H

#include <pthread.h>

#include "config/config.h"
#include "port/live_config.h"

struct config_past;

struct config_current {
    struct config *config;
    const struct config *started; /* the first one: its queues are those that run */
    struct config_past *past;
    pthread_rwlock_t lock;
};

void config_current_init(struct config_current *current, struct config *config_take);
void config_current_free(struct config_current *current);

/* Stays in force until released. */
const struct config *config_current_borrow(struct config_current *current);
void config_current_release(struct config_current *current);
/* From now on this one. */
void config_current_replace(struct config_current *current, struct config *config_take);
/* It does not come into force, but somebody may borrow from it already. */
void config_current_refuse(struct config_current *current, struct config *config_take);

/* What it says of a DLQ; `arg` is the config_current. */
/* Whose a DLQ or a queue is, and its runbook; the texts live as long as `arg`. */
void config_current_about(void *arg, bool dlq, struct bytes name, struct alert_about *out);
bool config_current_dlq(void *arg, struct bytes name, struct engine_dlq *out);
/* The configuration in force as a port. */
struct live_config config_current_view(struct config_current *current);

#endif
