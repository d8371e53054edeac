/* config_find: a queue or a DLQ of a configuration by its name. */
#ifndef CONFIG_CONFIG_FIND_H
#define CONFIG_CONFIG_FIND_H

#include "config/config.h"

/* NULL: there is none. Its place is its distance from config->queues. */
const struct config_queue *config_find_queue(const struct config *config, struct bytes name);
/* What is said of a DLQ that a queue or an entry of `adopt` can reach. NULL: none does. */
const struct engine_dlq *config_find_dlq(const struct config *config, struct bytes name);
const struct config_triage *config_find_triage(const struct config *config, struct bytes dlq);

#endif
