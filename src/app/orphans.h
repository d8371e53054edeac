/* orphans: queues that hold messages and are not in the configuration any more. */
#ifndef APP_ORPHANS_H
#define APP_ORPHANS_H

#include "app/config.h"
#include "port/store.h"

/* Warns of each. Their messages are safe, but nobody hands them over. */
void orphans_tell(struct store *store, const struct config *config);

#endif
