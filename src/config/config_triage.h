/* config_triage: what a DLQ's configuration says to triage (`fresh`), and a queue's (`replay`). */
#ifndef CONFIG_CONFIG_TRIAGE_H
#define CONFIG_CONFIG_TRIAGE_H

#include "config/config_reader.h"

extern const struct config_table config_fresh_table;
extern const struct config_table config_replay_table;

config_read config_triage_read_fresh;  /* struct config_fresh */
config_read config_triage_read_replay; /* struct config_queue */

#endif
