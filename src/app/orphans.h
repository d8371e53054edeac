/* orphans: queues that hold messages and are not in the configuration any more. */
#ifndef APP_ORPHANS_H
#define APP_ORPHANS_H

#include "config/config.h"
#include "port/store.h"

/* Ends the leases of their messages until the next start, so that people can bury, discard and
 * rename them: no engine's queue has them. Before the port is open. */
void orphans_release(struct store *store, const struct config *config, struct instant now);
/* Warns of each. Their messages are safe, but nobody hands them over. */
void orphans_tell(struct store *store, const struct config *config);

#endif
