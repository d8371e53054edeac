/* mirror: a letter is also published to a broker's DLQ, before it is recorded and its source
 * message is acknowledged, so that tools that read the broker's DLQ still find it, with its failure
 * data in dlq-* headers. A sink that is down blocks the queue. A crash between the publication and
 * the commit may publish the letter twice.
 *
 *   decided ──▶ published ──▶ recorded ──▶ settled */
#ifndef ENGINE_MIRROR_H
#define ENGINE_MIRROR_H

#include "engine/state.h"

/* Whether a decided attempt must be published first: if so, commit_join follows, or, when the drain
 * is over, commit_abandon. A letter that fails again after a replay is not published again. */
bool mirror_publishes(struct attempt *attempt);

#endif
