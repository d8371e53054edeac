/* config_print_alerts: the alerts of a configuration, as YAML that reads back. */
#ifndef APP_CONFIG_PRINT_ALERTS_H
#define APP_CONFIG_PRINT_ALERTS_H

#include "app/config.h"

/* The file's own rules; of the default ones only whether they hold. */
void config_print_alerts(const struct config *config, struct buf *out);

#endif
