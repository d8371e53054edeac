/* config_path: relative paths in a configuration are relative to its file. */
#ifndef CONFIG_CONFIG_PATH_H
#define CONFIG_CONFIG_PATH_H

#include "config/config.h"
#include "config/table/config_reader.h"

/* The absolute path of the folder of a file; in the arena. */
struct bytes config_path_dir(struct arena *arena, const char *file);
/* An absolute path is unchanged, any other is relative to the configuration's folder. */
struct bytes config_path_from(struct config *config, struct bytes path);
config_read config_path_read_pem; /* struct bytes: a file of certificates */

#endif
