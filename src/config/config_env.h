/* config_env: ${NAME} inside a scalar becomes the environment's value; $${ stands for a plain ${.
 */
#ifndef CONFIG_CONFIG_ENV_H
#define CONFIG_CONFIG_ENV_H

#include "config/config_reader.h"

/* False: a name is not set or not closed, and a mistake says which. */
bool config_env_expand(struct config_reader *reader, const struct config_node *scalar,
                       struct bytes *out);
/* A text as it stood in the file before its ${NAME} were filled in, so that printing a
 * configuration shows no secrets; a text that never had any is escaped so that it reads back as
 * itself. */
struct bytes config_env_written(const struct config *config, struct bytes text, struct buf *room);

#endif
