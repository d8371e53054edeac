/* config_triage_rules: a DLQ's `triage`: rules that are applied to its letters on a schedule. */
#ifndef CONFIG_CONFIG_TRIAGE_RULES_H
#define CONFIG_CONFIG_TRIAGE_RULES_H

#include "config/config.h"
#include "config/table/config_reader.h"

extern const struct config_table config_triage_rule_table;
extern const struct config_table config_triage_when_table;

config_read config_triage_rules_read; /* struct config_triage_rules */
config_put config_triage_rules_put;
/* Checks that the rest of the file has what the rules of a queue's DLQ need: an archive, a
 * compensating handler, queues and receivers. Adds a mistake at `at` and returns false if something
 * is missing. */
bool config_triage_rules_check(struct config_reader *reader, const struct config_queue *queue,
                               size_t dlq, struct config_place at);
/* Every DLQ that has rules, in the arena; texts belong to the configuration. */
size_t config_triage_rules_dlqs(const struct config *config, struct arena *arena,
                                struct triage_dlq **out);

#endif
