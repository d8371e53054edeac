/* config_triage: a DLQ's settings for triage (`fresh`, `retention`), and a queue's (`replay`). */
#ifndef CONFIG_CONFIG_TRIAGE_H
#define CONFIG_CONFIG_TRIAGE_H

#include "config/config.h"
#include "config/table/config_reader.h"

extern const struct config_table config_fresh_table;
extern const struct config_table config_retention_table;
extern const struct config_table config_replay_table;

config_read config_triage_read_fresh;     /* struct config_fresh */
config_read config_triage_read_replay;    /* struct config_queue */
config_read config_triage_read_retention; /* struct config_retention */

/* The retention of each DLQ, in the arena; texts belong to the configuration. */
size_t config_triage_retention(const struct config *config, struct arena *arena,
                               struct retention_rule **out);

#endif
