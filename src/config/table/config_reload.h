/* config_reload: finds the changes of a configuration that a reload cannot apply, by the tables
 * (config_table.h). */
#ifndef CONFIG_CONFIG_RELOAD_H
#define CONFIG_CONFIG_RELOAD_H

#include "config/table/config_table.h"
#include "base/buf.h"

/* Appends a line for each key of the table that changed and needs a restart; no line is in `out`
 * twice. `path` names the mapping, "" the top level. */
void config_reload_compare(struct buf *out, const char *path, const struct config_table *table,
                           const void *old, const void *new);

#endif
