/* config_telemetry: where spans go (docs/monitoring.md). What the file does not say is taken from
 * OpenTelemetry's own variables of the environment. */
#ifndef CONFIG_CONFIG_TELEMETRY_H
#define CONFIG_CONFIG_TELEMETRY_H

#include "config/config_reader.h"

extern const struct config_table config_telemetry_table;

config_read config_telemetry_read; /* struct config_telemetry */
/* After the file was read. */
void config_telemetry_finish(struct config_reader *reader);
/* Whether a struct config_telemetry sends nothing. */
bool config_telemetry_is_off(const void *telemetry);

#endif
