/* config_telemetry: where spans go (docs/monitoring.md). What the file does not say is taken from
 * OpenTelemetry's own variables of the environment. */
#ifndef APP_CONFIG_TELEMETRY_H
#define APP_CONFIG_TELEMETRY_H

#include "app/config_reader.h"
#include "base/buf.h"

extern const struct config_table config_telemetry_table;

config_read config_telemetry_read; /* struct config_telemetry */
void config_telemetry_init(struct config *config);
/* After the file was read. */
void config_telemetry_finish(struct config_reader *reader);
/* One line of the `server` mapping; what the environment alone knows of headers is not shown. */
void config_telemetry_print(const struct config *config, struct buf *out);
bool config_telemetry_same(const struct config *a, const struct config *b);

#endif
