/* plant: the running machinery of one configuration: store, handlers, engine and server, wired
 * together. Starting and stopping happen in one order, written down once, in plant.c. */
#ifndef APP_PLANT_H
#define APP_PLANT_H

#include "config/config.h"

struct plant;

/* Takes the configuration. Recovers, starts the engine's thread, then opens the port. */
enum status plant_start(struct config *config_take, struct plant **out, struct err *err);
uint16_t plant_port(const struct plant *plant);
/* Applies what can change live and takes the configuration, or, when it is INVALID, leaves
 * everything as it is. Waits until every queue has it. */
enum status plant_reload(struct plant *plant, struct config *config_take, struct err *err);
/* Graceful: what does not finish within server.drain is interrupted. */
void plant_stop(struct plant *plant);

#endif
