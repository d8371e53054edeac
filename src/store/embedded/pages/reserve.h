/* reserve: room on the disk that is kept for freeing room. A file as large as a journal segment
 * stands in the store's folder. When the disk is full it is removed: then commits that free space,
 * such as discards and what retention deletes, have room, and so have the folds that carry them
 * out. Other commits are refused until the file could be made again. */
#ifndef STORE_EMBEDDED_PAGES_RESERVE_H
#define STORE_EMBEDDED_PAGES_RESERVE_H

#include "store/embedded/store_internal.h"

/* Makes the file, or finds it. Without room for it the store opens as full. */
void reserve_open(struct sqlite_store *self);
/* The disk refused something for want of room. True: the reserve was given up just now, and what
 * was refused may be tried again. */
bool reserve_give_up(struct sqlite_store *self);
/* While the store is full: takes the reserve back if there is room for it and as much again. */
void reserve_take_back(struct sqlite_store *self);
/* Whether the commit may use the reserve: it takes no new body, and something in it frees space. */
bool reserve_is_for(const struct store_commit *commit);
/* Removes the file of a store that is not open, so that it can be opened. True: it was there. */
bool reserve_remove(struct disk *disk, const char *dir);

#endif
