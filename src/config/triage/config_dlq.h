/* config_dlq: the settings of DLQs, by their queue and by name.
 *
 * A queue's `dlq` applies to every DLQ that the queue can reach; the top-level `dlqs` overrides it
 * for one of them. While the file is read, dlqs[0] of a queue has the settings of its own `dlq`;
 * config_dlq_finish makes one entry for each DLQ of them. */
#ifndef CONFIG_CONFIG_DLQ_H
#define CONFIG_CONFIG_DLQ_H

#include "config/table/config_reader.h"

extern const struct config_table config_dlq_table;  /* of a queue's `dlq` */
extern const struct config_table config_dlqs_table; /* of one entry of `dlqs` */

/* Gives a queue its dlqs[0]: "<queue>.dlq" with the defaults. */
void config_dlq_init(struct config_reader *reader, struct config_queue *queue);
/* `out` is a struct config_queue. */
config_read config_dlq_read;
/* Of a queue's own mapping only its routes are printed; all other settings of a DLQ are in `dlqs`.
 */
config_shown config_dlq_has_routes;
config_put config_dlq_put_routes;
config_compare config_dlq_compare;
config_put config_dlq_put_all; /* of a struct config: an entry of `dlqs` for each DLQ */
/* To be called when every queue is read: `root` is the file, whose `queues` are in the same order
 * as config->queues. */
void config_dlq_finish(struct config_reader *reader, const struct config_node *root);

#endif
