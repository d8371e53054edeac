/* recover: crash recovery: loads the tables from the SQLite file, then replays the journal from the
 * position up to which it was folded. */
#ifndef STORE_EMBEDDED_RECOVER_H
#define STORE_EMBEDDED_RECOVER_H

#include "store/embedded/store_internal.h"

/* The connections must be open. Opens the journal. */
enum status recover_all(struct sqlite_store *self, struct err *err);
/* Loads the SQLite file alone, for doctor; *position is where the journal continues. */
enum status recover_file(struct sqlite_store *self, uint64_t *position, struct err *err);
/* Applies one record of the journal. CORRUPT if it cannot be decoded. */
enum status recover_record(struct sqlite_store *self, uint64_t position, struct bytes bytes,
                           struct err *err);

#endif
