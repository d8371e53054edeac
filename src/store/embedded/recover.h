/* recover: what the disk holds becomes the tables again: the file at its position, then every
 * change that the journal has behind it. */
#ifndef STORE_EMBEDDED_RECOVER_H
#define STORE_EMBEDDED_RECOVER_H

#include "store/embedded/store_internal.h"

/* The connections are open. Opens the journal. */
enum status recover_all(struct sqlite_store *self, struct err *err);
/* The file's part alone, for doctor; *position is where the journal goes on. */
enum status recover_file(struct sqlite_store *self, uint64_t *position, struct err *err);
/* One record of the journal. CORRUPT when it cannot be understood. */
enum status recover_record(struct sqlite_store *self, uint64_t position, struct bytes bytes,
                           struct err *err);

#endif
