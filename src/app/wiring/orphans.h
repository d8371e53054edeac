/* orphans: queues that hold messages and are no longer in the configuration. */
#ifndef APP_ORPHANS_H
#define APP_ORPHANS_H

#include "config/config.h"
#include "port/store.h"

/* Ends the leases of their messages, so that people can bury, discard and rename them: the engine
 * has no such queue. To be called before the port is open. */
void orphans_release(struct store *store, const struct config *config, struct instant now);
/* Logs a warning for each. Their messages are stored, but not handed over. */
void orphans_tell(struct store *store, const struct config *config);

#endif
