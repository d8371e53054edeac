/* mirror: a letter is also published to a broker's DLQ, before it is recorded and its source is
 * acknowledged: whoever has looked there until now still finds it, with what is known of it in
 * headers dlq-*. A sink that is down holds its queue up; our own death meanwhile may publish twice.
 *
 *   decided ──▶ published ──▶ recorded ──▶ settled
 */
#ifndef ENGINE_MIRROR_H
#define ENGINE_MIRROR_H

#include "engine/state.h"

/* Whether an attempt that was decided must be published first: then commit_join follows, or, when
 * the drain is over, commit_abandon. A letter that comes back from a replay was there before. */
bool mirror_publishes(struct attempt *attempt);

#endif
