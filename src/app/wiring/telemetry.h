/* telemetry: runs the exporter of spans: a thread, and a handler for its receiver. */
#ifndef APP_TELEMETRY_H
#define APP_TELEMETRY_H

#include "config/config.h"
#include "handler/http/http.h"
#include "port/spans.h"

struct telemetry;

/* NULL: the configuration has no receiver. The configuration and the instance's name must outlive
 * the telemetry. */
struct telemetry *telemetry_start(const struct config *config, struct http_pool *http,
                                  struct bytes instance);
struct spans *telemetry_spans(struct telemetry *telemetry); /* NULL for NULL */
/* Stops recording and sends the remaining spans, for a bounded time. NULL-safe. */
void telemetry_stop(struct telemetry *telemetry);

#endif
