/* wal: keeps SQLite's log short. What a fold commits is in the log first; a checkpoint copies it
 * from there into the file:
 *
 *   [fold] COMMIT → log → [whoever settles] file
 *
 * Copying, and syncing both, takes a good part of what a fold takes, so it has a connection of its
 * own and is done beside the next fold. SQLite uses the log from its beginning again when all of it
 * is in the file and nobody reads it: while folds follow one another it only grows, so one that has
 * become long is for the fold itself to wait for. */
#ifndef STORE_WAL_H
#define STORE_WAL_H

#include "store/sqlite/database.h"

struct wal;

/* From now on the fold's connection makes no checkpoints by itself. `pages`: that many in the log
 * and not in the file make one due; 0: WAL_PAGES. */
enum status wal_open(const struct database_options *options, struct database *fold_db, size_t pages,
                     struct wal **out, struct err *err);
void wal_close(struct wal *wal); /* NULL: nothing */

enum { WAL_PAGES = 4000 };

/* For the fold, after a commit and with no checkpoint under way: sees whether one is due. True: the
 * log is long, and should be dealt with before the next fold. NULL: false. */
bool wal_look(struct wal *wal);
/* Makes the checkpoint that is due, if any. By one thread at a time. NULL: nothing. */
void wal_checkpoint(struct wal *wal);

#endif
