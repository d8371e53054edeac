/* safe_names: makes changes of directory entries durable. */
#ifndef STORE_EMBEDDED_SAFE_NAMES_H
#define STORE_EMBEDDED_SAFE_NAMES_H

#include "port/disk.h"

/* Syncs the directory that contains `path`. Returns 0 or an errno. */
int safe_names_sync_parent(struct disk *disk, const char *path);

#endif
