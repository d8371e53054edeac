/* config_queue: one queue, from its source to its DLQs. */
#ifndef CONFIG_CONFIG_QUEUE_H
#define CONFIG_CONFIG_QUEUE_H

#include "config/table/config_reader.h"

extern const struct config_table config_queue_table;
extern const struct config_table config_idempotency_table;

/* `out` is the whole struct config. */
config_read config_queue_read_all;
config_put config_queue_put_all;
config_compare config_queue_compare_all;
config_read config_queue_read_source; /* struct bytes: builtin, or the URL of a broker */
/* Adds a mistake for the source at this node, with the text of sources_check. True: the source is
 * right. */
bool config_queue_source_is_right(struct config_reader *reader, const struct config_node *node,
                                  enum status status, const struct err *err);

#endif
