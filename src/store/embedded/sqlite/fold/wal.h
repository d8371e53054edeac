/* wal: keeps SQLite's write-ahead log (WAL) short. A fold commits to the WAL; a checkpoint copies
 * the pages from there into the file:
 *
 *   [fold] COMMIT → WAL → [the thread that settles] file
 *
 * The checkpoint, with the fsync of both files, takes a large part of the time of a fold, so it has
 * a connection of its own and runs beside the next fold. SQLite restarts the WAL from its beginning
 * when all of it was checkpointed and no connection reads it: while folds follow one another it
 * only grows, so the fold itself waits for the checkpoint of a long WAL.
 *
 * A failed fsync may have lost data that was written before, including the end of a commit that
 * SQLite pads after its fsync. SQLite would append the next commits after that gap, and a power
 * failure would lose all of them. So the WAL is in doubt after a failed transaction, and is
 * restarted. */
#ifndef STORE_EMBEDDED_SQLITE_WAL_H
#define STORE_EMBEDDED_SQLITE_WAL_H

#include "store/embedded/sqlite/database.h"

struct wal;

/* From now on the fold's connection makes no checkpoints of its own. `options`: for a connection
 * for checkpoints; NULL: the fold's connection makes them. `pages`: the number of pages in the WAL
 * and not in the file that makes a checkpoint due; 0: WAL_PAGES. */
enum status wal_open(const struct database_options *options, struct database *fold_db, size_t pages,
                     struct wal **out, struct err *err);
void wal_close(struct wal *wal); /* the fold must not commit any more; NULL: no effect */

enum { WAL_PAGES = 4000 };

/* For the fold, after a commit and with no checkpoint running: checks whether one is due. True: the
 * WAL is long, and should be checkpointed before the next fold. */
bool wal_look(struct wal *wal);
/* Makes the checkpoint if one is due. One thread at a time. */
void wal_checkpoint(struct wal *wal);

/* For the fold: a transaction failed. */
void wal_doubt(struct wal *wal);
/* For the fold, before a transaction: if the WAL is in doubt, copies all of it into the file and
 * restarts it. On an error it stays in doubt. */
enum status wal_trust(struct wal *wal, struct err *err);

#endif
