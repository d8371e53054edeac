/* config_print_triage: a DLQ's triage rules, every default filled in. */
#ifndef APP_CONFIG_PRINT_TRIAGE_H
#define APP_CONFIG_PRINT_TRIAGE_H

#include "app/config_printer.h"

/* ", triage: […]"; nothing when there are none. */
void config_print_triage(struct config_printer *p, const struct config_triage_rules *rules);

#endif
