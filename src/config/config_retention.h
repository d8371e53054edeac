/* config_retention: how long a DLQ keeps its letters, by their state. */
#ifndef CONFIG_CONFIG_RETENTION_H
#define CONFIG_CONFIG_RETENTION_H

#include "config/config_reader.h"
#include "config/config.h"

extern const struct config_table config_retention_table;

config_read config_retention_read; /* struct config_retention */
/* Every DLQ's rule, in the arena; texts are the configuration's. */
size_t config_retention_rules(const struct config *config, struct arena *arena,
                              struct retention_rule **out);

#endif
