/* config_handler: the handler of a queue's messages. */
#ifndef CONFIG_CONFIG_HANDLER_H
#define CONFIG_CONFIG_HANDLER_H

#include "config/table/config_reader.h"

#define CONFIG_HANDLER_FORM "{http: URL}, {exec: [COMMAND]} or lease"

extern const struct config_table config_handler_table;

/* A handler that is one word: `lease`, or `callback`, which only the library has. */
bool config_handler_word(const struct config_node *node, enum handler_class *out);
/* `out` is a struct config_handler. */
config_read config_handler_read;
config_put config_handler_put;

#endif
