/* reserve: disk space reserved for operations that free space. A file as large as a journal segment
 * is kept in the store's directory. When the disk is full it is removed: then there is room for
 * commits that free space, such as discards and deletions by retention, and for their folds. Other
 * commits are refused until the file could be created again. */
#ifndef STORE_EMBEDDED_PAGES_RESERVE_H
#define STORE_EMBEDDED_PAGES_RESERVE_H

#include "store/embedded/store_internal.h"

/* Creates the file, or finds it. If there is no room for it the store opens as full. */
void reserve_open(struct sqlite_store *self);
/* Called when a write failed because the disk is full. True: the reserve was released by this call,
 * and the write may be repeated. */
bool reserve_give_up(struct sqlite_store *self);
/* While the store is full: creates the reserve again if there is room for twice its size. */
void reserve_take_back(struct sqlite_store *self);
/* True if the commit may use the reserved space: it has no new body, and an op of it frees space.
 */
bool reserve_is_for(const struct store_commit *commit);
/* Removes the file of a store that is not open, so that it can be opened. True: the file existed.
 */
bool reserve_remove(struct disk *disk, const char *dir);

#endif
