/* config_order: which messages of a queue wait for one another: `order: key`, `idempotency`. */
#ifndef CONFIG_CONFIG_ORDER_H
#define CONFIG_CONFIG_ORDER_H

#include "config/config.h"
#include "config/config_reader.h"

extern const char *const config_order_words[];   /* by enum store_order */
extern const char *const config_on_dead_words[]; /* by enum config_on_dead */
extern const struct config_table config_idempotency_table;

/* `out` is a struct engine_idempotency. */
config_read config_order_read_idempotency;
/* Keys that are for `order: key` alone. */
void config_order_check(struct config_reader *reader, const struct config_node *node,
                        const struct config_queue *queue);

#endif
