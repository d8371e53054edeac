/* wal: keeps SQLite's log short. What a fold commits is in the log first; a checkpoint copies it
 * from there into the file:
 *
 *   [fold] COMMIT → log → [whoever settles] file
 *
 * Copying, and syncing both, takes a good part of what a fold takes, so it has a connection of its
 * own and is done beside the next fold. SQLite uses the log from its beginning again when all of it
 * is in the file and nobody reads it: while folds follow one another it only grows, so one that has
 * become long is for the fold itself to wait for.
 *
 * A sync that fails may have let go of what was written before, also of the end of a commit that
 * SQLite fills up behind its sync. SQLite would write the next commits behind that gap, and a crash
 * of the machine would take all of them. So the log is in doubt then, and begins anew. */
#ifndef STORE_EMBEDDED_SQLITE_WAL_H
#define STORE_EMBEDDED_SQLITE_WAL_H

#include "store/embedded/sqlite/database.h"

struct wal;

/* From now on the fold's connection makes no checkpoints by itself. `options`: of a connection for
 * checkpoints; NULL: the fold's makes them, too. `pages`: that many in the log and not in the file
 * make one due; 0: WAL_PAGES. */
enum status wal_open(const struct database_options *options, struct database *fold_db, size_t pages,
                     struct wal **out, struct err *err);
void wal_close(struct wal *wal); /* the fold commits nothing any more; NULL: nothing */

enum { WAL_PAGES = 4000 };

/* For the fold, after a commit and with no checkpoint under way: sees whether one is due. True: the
 * log is long, and should be dealt with before the next fold. */
bool wal_look(struct wal *wal);
/* Makes the checkpoint that is due, if any. By one thread at a time. */
void wal_checkpoint(struct wal *wal);

/* For the fold: a transaction failed. */
void wal_doubt(struct wal *wal);
/* For the fold, before a transaction: if the log is in doubt, all of it goes into the file, and it
 * begins anew. On trouble it stays in doubt. */
enum status wal_trust(struct wal *wal, struct err *err);

#endif
