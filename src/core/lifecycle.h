/* lifecycle: which state may follow which. The picture stands in words.h; this is its executable
 * twin, asserted by the store at every change. */
#ifndef CORE_LIFECYCLE_H
#define CORE_LIFECYCLE_H

#include "core/words.h"

bool lifecycle_allows(enum state from, enum state to);
/* A letter is in a DLQ or was: pending_review, replaying, resolved, discarded. */
bool lifecycle_is_letter(enum state state);
/* What `depth` and `cap` count: pending_review and replaying. */
bool lifecycle_counts_in_depth(enum state state);
/* A letter that is over, whose id another message may have: resolved, discarded. */
bool lifecycle_is_decided(enum state state);
/* What is still to be handed over: queued, running, pending_retry, retrying. */
bool lifecycle_is_live(enum state state);

#endif
