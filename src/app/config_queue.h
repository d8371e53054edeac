/* config_queue: one pipeline, from its source to its DLQs. */
#ifndef APP_CONFIG_QUEUE_H
#define APP_CONFIG_QUEUE_H

#include "app/config_reader.h"

extern const struct config_table config_queue_table;

/* `out` is the whole struct config. */
config_read config_queue_read_all;
config_read config_queue_read_source; /* struct bytes: builtin, or the URL of a broker */

#endif
