/* sim_vfs: SQLite on a simulated disk, so that it suffers the same power cuts and failures.
 *
 * There is no shared memory: WAL mode wants `PRAGMA locking_mode=EXCLUSIVE` first. Locks are not
 * kept; one connection at a time. */
#ifndef SIM_VFS_H
#define SIM_VFS_H

#include <stdint.h>

#include "sim_disk.h"

#define SIM_VFS_NAME "sim"

struct sim_vfs;

/* Registers the VFS "sim"; the seed is for SQLite's own randomness. One at a time. */
struct sim_vfs *sim_vfs_new(struct sim_disk *sim, uint64_t seed);
void sim_vfs_free(struct sim_vfs *vfs); /* unregisters; after every connection was closed */
/* What SQLite takes for now, in milliseconds since 1970. */
void sim_vfs_set_time(struct sim_vfs *vfs, int64_t unix_ms);

#endif
