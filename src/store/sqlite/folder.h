/* folder: names in folders, made safe. */
#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include "port/disk.h"

/* Syncs the folder that holds `path`: 0 or an errno. */
int folder_sync_parent(struct disk *disk, const char *path);

#endif
