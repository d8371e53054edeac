/* config_triage: what a DLQ's configuration says to triage (`fresh`), and a queue's (`replay`). */
#ifndef APP_CONFIG_TRIAGE_H
#define APP_CONFIG_TRIAGE_H

#include "app/config_reader.h"

extern const struct config_table config_fresh_table;
extern const struct config_table config_replay_table;

config_read config_triage_read_fresh;  /* struct config_triage */
config_read config_triage_read_replay; /* struct config_queue */

/* What the entry of `dlqs` says, over what the queue says. */
void config_triage_apply(const struct config_node *entry, const struct config_triage *said,
                         struct config_triage *into);
/* The key by which they differ; NULL: they agree. */
const char *config_triage_difference(const struct config_triage *a, const struct config_triage *b);

#endif
