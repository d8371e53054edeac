/* config_classify: a queue's own rules and its presets. */
#ifndef CONFIG_CONFIG_CLASSIFY_H
#define CONFIG_CONFIG_CLASSIFY_H

#include "config/table/config_reader.h"

extern const struct config_table config_classify_table;
extern const struct config_table config_rule_table;
extern const struct config_table config_answer_table;

/* `out` is a struct policy that has its queue's name. */
config_read config_classify_read;

#endif
