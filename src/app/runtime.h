/* runtime: the running machinery of one configuration: store, handlers, engine and server, wired
 * together. Starting and stopping happen in one order, written down once, in runtime.c. */
#ifndef APP_RUNTIME_H
#define APP_RUNTIME_H

#include "config/config.h"

struct runtime;

/* Takes the configuration. Recovers, starts the engine's thread, then opens the port. */
enum status runtime_start(struct config *config_take, struct runtime **out, struct err *err);
uint16_t runtime_port(const struct runtime *runtime);
/* Applies what can change live and takes the configuration, or, when it is INVALID, leaves
 * everything as it is. Waits until every queue has it. */
enum status runtime_reload(struct runtime *runtime, struct config *config_take, struct err *err);
/* Graceful: what does not finish within server.drain is interrupted. */
void runtime_stop(struct runtime *runtime);

#endif
