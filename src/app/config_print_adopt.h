/* config_print_adopt: the adopt section of what `check` prints. */
#ifndef APP_CONFIG_PRINT_ADOPT_H
#define APP_CONFIG_PRINT_ADOPT_H

#include "app/config.h"

void config_print_adopt(const struct config *config, struct buf *out);

#endif
