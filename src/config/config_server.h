/* config_server: the `server` mapping and the `store`. */
#ifndef CONFIG_CONFIG_SERVER_H
#define CONFIG_CONFIG_SERVER_H

#include "config/table/config_reader.h"

extern const struct config_table config_server_table;

/* Sets the defaults. */
void config_server_init(struct config *config);
/* Both take the whole struct config as `out`. */
config_read config_server_read;
config_read config_server_read_store;
config_put config_server_put_store;

#endif
