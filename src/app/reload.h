/* reload: new rules for a queue that runs. */
#ifndef APP_RELOAD_H
#define APP_RELOAD_H

#include "config/config.h"

/* Waits until the engine has them. `started` is the queue as it was at the start. */
enum status reload_queue(struct engine *engine, const struct config_queue *started,
                         const struct config_queue *queue, struct err *err);

#endif
