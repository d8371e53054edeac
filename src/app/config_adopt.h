/* config_adopt: where dead letters of other systems lie (DESIGN §9). */
#ifndef APP_CONFIG_ADOPT_H
#define APP_CONFIG_ADOPT_H

#include "app/config.h"
#include "app/config_reader.h"

extern const struct config_table config_adopt_table; /* of one entry */

config_read config_adopt_read; /* the whole config */
config_put config_adopt_put;

#endif
