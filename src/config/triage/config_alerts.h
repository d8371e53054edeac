/* config_alerts: the receivers and rules of alerts (DESIGN §8). */
#ifndef CONFIG_CONFIG_ALERTS_H
#define CONFIG_CONFIG_ALERTS_H

#include "config/table/config_reader.h"

extern const struct config_table config_alerts_table, config_receiver_table,
    config_alert_rule_table;

config_read config_alerts_read; /* struct config_alerts */
/* Sets the default rules, for a file that has none. */
void config_alerts_init(struct config *config);

#endif
