/* runtime: everything that runs for one configuration: store, handlers, engine and server, wired
 * together. The order of starting and stopping is in runtime.c only. */
#ifndef APP_RUNTIME_H
#define APP_RUNTIME_H

#include "config/config.h"

struct runtime;

/* Takes ownership of the configuration. Runs crash recovery, starts the engine's thread, then opens
 * the port. */
enum status runtime_start(struct config *config_take, struct runtime **out, struct err *err);
uint16_t runtime_port(const struct runtime *runtime);
/* Takes ownership of the configuration and applies every key that is CONFIG_LIVE; if the engine
 * refuses it (INVALID), the previous configuration stays in force. Waits until every queue has it.
 */
enum status runtime_reload(struct runtime *runtime, struct config *config_take, struct err *err);
/* Graceful: attempts that do not finish within server.drain are interrupted. */
void runtime_stop(struct runtime *runtime);

#endif
