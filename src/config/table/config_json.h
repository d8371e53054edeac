/* config_json: the output of config_print as JSON (`impound check --json`). */
#ifndef CONFIG_CONFIG_JSON_H
#define CONFIG_CONFIG_JSON_H

#include "config/config.h"

/* The same members in the same order. Counts are numbers; values with a unit are texts as in the
 * file, such as "200ms". One line. */
void config_json_print(const struct config *config, struct buf *out);

#endif
