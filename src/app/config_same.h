/* config_same: whether two configurations say the same. */
#ifndef APP_CONFIG_SAME_H
#define APP_CONFIG_SAME_H

#include "app/config.h"

/* Either may be NULL: not given. */
bool config_same_handler(const struct config_handler *a, const struct config_handler *b);

#endif
