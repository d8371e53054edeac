/* config_print_rules: a queue's presets and its own rules, as `impound check` prints them. */
#ifndef APP_CONFIG_PRINT_RULES_H
#define APP_CONFIG_PRINT_RULES_H

#include "app/config_printer.h"

void config_print_rules(struct config_printer *p, const struct policy *policy);

#endif
