/* config_triage_rules: a DLQ's `triage`: rules that walk through it on a schedule. */
#ifndef CONFIG_CONFIG_TRIAGE_RULES_H
#define CONFIG_CONFIG_TRIAGE_RULES_H

#include "config/config.h"
#include "config/config_reader.h"

extern const struct config_table config_triage_rule_table;
extern const struct config_table config_triage_when_table;

config_read config_triage_rules_read; /* struct config_triage_rules */
config_put config_triage_rules_put;
/* What the rest of the file must have for the rules of one of a queue's DLQs: an archive, a
 * compensating handler, queues and receivers. Adds a mistake at `at` and returns false when it has
 * not. */
bool config_triage_rules_check(struct config_reader *reader, const struct config_queue *queue,
                               size_t dlq, struct config_place at);
/* Every DLQ that has rules, in the arena; texts are the configuration's. */
size_t config_triage_rules_dlqs(const struct config *config, struct arena *arena,
                                struct triage_dlq **out);

#endif
