/* config_limit: the limit of an alert rule, as a number or with a unit: "24h", "10/min", "97%". */
#ifndef CONFIG_CONFIG_LIMIT_H
#define CONFIG_CONFIG_LIMIT_H

#include "triage/alerts/alert.h"

#define CONFIG_LIMIT_FORM "a limit such as 100, 0.95, 24h, 10/min or 97%"

enum config_limit_unit { LIMIT_NUMBER, LIMIT_DURATION, LIMIT_PER_MINUTE, LIMIT_SHARE };

/* In the unit of the metrics: seconds, per minute, 0 to 1. `unit` is the unit in the text;
 * LIMIT_NUMBER: none. */
bool config_limit_parse(struct bytes text, double *out, enum config_limit_unit *unit);
enum config_limit_unit config_limit_unit_of(enum alert_metric metric);

#endif
