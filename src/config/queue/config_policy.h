/* config_policy: retry, breaker, poison and flood. */
#ifndef CONFIG_CONFIG_POLICY_H
#define CONFIG_CONFIG_POLICY_H

#include "config/table/config_reader.h"

extern const struct config_table config_retry_table;
extern const struct config_table config_breaker_table;
extern const struct config_table config_poison_table;
extern const struct config_table config_flood_table;

config_read config_policy_read_retry;   /* struct retry_policy */
config_read config_policy_read_breaker; /* struct breaker_policy */
/* Of a struct breaker_policy. */
bool config_policy_breaker_is_off(const void *breaker);
config_read config_policy_read_poison; /* struct poison_policy */
config_read config_policy_read_flood;  /* struct flood_policy */

#endif
