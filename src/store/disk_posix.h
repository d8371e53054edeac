/* disk_posix: the disk port on the local file system. */
#ifndef STORE_DISK_POSIX_H
#define STORE_DISK_POSIX_H

#include "port/disk.h"

extern struct disk disk_posix;

#endif
