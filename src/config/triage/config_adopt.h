/* config_adopt: the sources of other systems' dead letters (DESIGN §9). */
#ifndef CONFIG_CONFIG_ADOPT_H
#define CONFIG_CONFIG_ADOPT_H

#include "config/config.h"
#include "config/table/config_reader.h"

extern const struct config_table config_adopt_table; /* of one entry */

config_read config_adopt_read; /* the whole config */
config_put config_adopt_put;

#endif
