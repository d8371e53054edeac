/* folder: names in folders, made safe. */
#ifndef STORE_EMBEDDED_SAFE_NAMES_H
#define STORE_EMBEDDED_SAFE_NAMES_H

#include "port/disk.h"

/* Syncs the folder that holds `path`: 0 or an errno. */
int safe_names_sync_parent(struct disk *disk, const char *path);

#endif
