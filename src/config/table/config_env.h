/* config_env: expands ${NAME} in a scalar to the environment's value; $${ stands for a plain ${. */
#ifndef CONFIG_CONFIG_ENV_H
#define CONFIG_CONFIG_ENV_H

#include "config/table/config_reader.h"

/* False: a variable is not set or its brace is not closed; a mistake names it. */
bool config_env_expand(struct config_reader *reader, const struct config_node *scalar,
                       struct bytes *out);
/* A text as it was in the file before its ${NAME} were expanded, so that a printed configuration
 * shows no secrets; a text that had none is escaped so that it reads back as itself. */
struct bytes config_env_written(const struct config *config, struct bytes text, struct buf *room);

#endif
