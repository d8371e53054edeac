/* behaviour: settings whose meaning changed between versions, in one table. `check`, and the first
 * start on a store of an earlier version, list those that a configuration uses (SEMANTICS 17);
 * CHANGELOG.md has them under "Behaviour". */
#ifndef APP_BEHAVIOUR_H
#define APP_BEHAVIOUR_H

#include "config/config.h"
#include "triage/triage.h"

/* Appends a line for each change that affects the configuration, beginning with table row `from`.
 */
void behaviour_put(const struct config *config, size_t from, struct buf *out);
/* Logs the changes since the version that last started on the store, and notes this one there.
 * Nothing is logged for a new store. */
void behaviour_started(struct triage *triage, const struct config *config);

#endif
