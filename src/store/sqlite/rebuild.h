/* rebuild: a new SQLite file from the packs, for one that was lost or is malformed. The packs have
 * every message's envelope and body, but not what became of it since: whether it was done, resolved
 * or deleted only the lost file knew, and the journal of what came last. So letters come back as
 * their envelopes say, and what would run again by itself comes back as a letter, for a person to
 * decide; whatever the journal says is then applied on top. */
#ifndef STORE_REBUILD_H
#define STORE_REBUILD_H

#include "store/sqlite/doctor.h"

/* Which packs are there, and whether the journal reaches back to the beginning. */
enum status rebuild_find(struct doctor *doctor, struct err *err);
/* The file hears of them, so that they can be opened. */
enum status rebuild_register(struct doctor *doctor, struct err *err);
/* Inside a transaction of the file, and before the journal is salvaged. */
enum status rebuild_rows(struct doctor *doctor, struct err *err);

#endif
