/* config_headers: headers that the configuration adds to outgoing requests. */
#ifndef CONFIG_CONFIG_HEADERS_H
#define CONFIG_CONFIG_HEADERS_H

#include "config/table/config_reader.h"
#include "core/rule.h"

/* A mapping of names to values. */
bool config_headers_read(struct config_reader *reader, const struct config_node *node,
                         struct rule_header **out, size_t *count);
/* The environment's OTEL_EXPORTER_OTLP_HEADERS: "name=value,name=value", values percent-encoded.
 * False if the text has another form. */
bool config_headers_parse_list(struct bytes text, struct arena *arena, struct rule_header **out,
                               size_t *count);

#endif
