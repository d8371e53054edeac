/* config_reply: where a handler's answers go: `reply: {store: 24h}` or a sink's URL. */
#ifndef CONFIG_CONFIG_REPLY_H
#define CONFIG_CONFIG_REPLY_H

#include "config/config.h"
#include "config/table/config_reader.h"

extern const struct config_table config_reply_table;

config_read config_reply_read; /* struct config_reply */
config_put config_reply_put;
/* Whether answers are kept or published. */
bool config_reply_is_given(const struct config_reply *reply);
/* A sink's URL, checked; the mistake has its purpose `what` and the expected `form`. */
bool config_reply_url(struct config_reader *reader, const struct config_node *node,
                      const char *what, const char *form, struct bytes *out);

#endif
