/* disk_posix: the machine's own file system behind the disk port. */
#ifndef STORE_DISK_POSIX_H
#define STORE_DISK_POSIX_H

#include "port/disk.h"

extern struct disk disk_posix;

#endif
