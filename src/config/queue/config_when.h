/* config_when: the conditions of a rule. */
#ifndef CONFIG_CONFIG_WHEN_H
#define CONFIG_CONFIG_WHEN_H

#include "config/table/config_reader.h"

extern const struct config_table config_when_table;
extern const struct config_table config_answer_when_table;

/* `out` is a struct rule_when. */
config_read config_when_read;
config_read config_when_read_answer; /* of an answer rule */

#endif
