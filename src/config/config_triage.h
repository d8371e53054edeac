/* config_triage: what a DLQ's configuration says to triage (`fresh`, `retention`), and a queue's
 * (`replay`). */
#ifndef CONFIG_CONFIG_TRIAGE_H
#define CONFIG_CONFIG_TRIAGE_H

#include "config/config.h"
#include "config/config_reader.h"

extern const struct config_table config_fresh_table;
extern const struct config_table config_retention_table;
extern const struct config_table config_replay_table;

config_read config_triage_read_fresh;     /* struct config_fresh */
config_read config_triage_read_replay;    /* struct config_queue */
config_read config_triage_read_retention; /* struct config_retention */

/* How long each DLQ keeps its letters, in the arena; texts are the configuration's. */
size_t config_triage_retention(const struct config *config, struct arena *arena,
                               struct retention_rule **out);

#endif
