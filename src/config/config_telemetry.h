/* config_telemetry: the receiver of spans (docs/monitoring.md). Settings that the file does not
 * have are taken from OpenTelemetry's environment variables. */
#ifndef CONFIG_CONFIG_TELEMETRY_H
#define CONFIG_CONFIG_TELEMETRY_H

#include "config/table/config_reader.h"

extern const struct config_table config_telemetry_table;

config_read config_telemetry_read; /* struct config_telemetry */
/* To be called after the file was read. */
void config_telemetry_finish(struct config_reader *reader);
/* Whether a struct config_telemetry sends nothing. */
bool config_telemetry_is_off(const void *telemetry);

#endif
